import type { Launcher } from '../host/supervise/launch-owner.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { checkRelayUrl, type RelayPolicy } from '../protocol/relay-url.ts'
import { createSigner } from '../protocol/signer.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import type { Random } from '../seams/random.ts'
import type { AskRelayInformation } from '../seams/relay-information.ts'
import type { DialRelay } from '../seams/relay-socket.ts'
import { noTelemetry, type Telemetry } from '../seams/telemetry.ts'
import { type AccessBook, openAccessBook } from './access/book.ts'
import { epochOf } from './access/grants.ts'
import { standsNow } from './access/principal.ts'
import { type Counters, createCounters } from './counters.ts'
import { createCreationLimit } from './creation-limit.ts'
import type { DispatchContext } from './dispatch.ts'
import { nextGeneration } from './generation.ts'
import type { OpenHome } from './home.ts'
import { openKeptReplies } from './kept-replies.ts'
import type { Log } from './log.ts'
import { nudgeFilters } from './nudge-filters.ts'
import { createNudges } from './nudges.ts'
import { createPeerKeys } from './peer-keys.ts'
import { type Announcer, createAnnouncer } from './presence.ts'
import { createRelayLinks, type RelayLinks } from './relay-links.ts'
import { createRenewals } from './renewals.ts'
import { createRequests, type Requests } from './requests.ts'
import type { Sealer } from './seal.ts'
import { policyOf, type ServeSettings } from './serve-settings.ts'
import { createStrangerGate, isKnown } from './strangers.ts'
import { createSummaries } from './summaries.ts'
import { openTaskSide, type TaskSide } from './task-side.ts'
import { openTold } from './told.ts'

export interface ServiceDeps {
  readonly disk: Disk
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  /** Asks relays what they take; without it nothing is known of that. */
  readonly information?: AskRelayInformation
  readonly launcher: Launcher
  readonly log: Log
  /** Absolute. */
  readonly home: string
  /** This process. */
  readonly pid: number
  /** Relays beside those of the settings, such as an embedded one; they come first. */
  readonly relays?: readonly string[]
  /** From a local option: loopback relays without TLS are admitted. */
  readonly loopbackTest?: boolean
  readonly relayLifetimeSeconds?: number
  /** The load of the machine, for presence; without it presence says nothing of it. */
  readonly telemetry?: Telemetry
}

/** The parts of a running service, and how to end each, the last opened first. */
export interface ServiceParts {
  readonly home: OpenHome
  readonly book: AccessBook
  readonly side: TaskSide
  readonly context: DispatchContext
  readonly counters: Counters
  readonly links: RelayLinks
  readonly requests: Requests
  readonly announcer: Announcer
  readonly generation: number
  settings(): ServeSettings
  /** Serves these settings from now on. Refuses `configuration` without a relay, `forbidden` for one outside the policy. */
  take(settings: ServeSettings): void
  /** Takes no further request, and says nothing by itself any more. */
  refuseMore(): void
}

/**
 * Opens everything that a service consists of; nothing is dialled yet.
 * @param opened takes the end of each part, in the order in which they were opened
 */
export async function openServiceParts(
  deps: ServiceDeps,
  home: OpenHome,
  opened: (end: () => Promise<void>) => void,
): Promise<ServiceParts> {
  const { disk, clock, random, log } = deps
  const { paths, hostKey } = home
  const signer = createSigner(hostKey.secret)
  const counters = createCounters()
  let settings = home.settings
  let accepting = true
  relaysOf(deps, settings)

  const book = await openAccessBook(disk, clock, paths, { host: signer.publicKey, owner: settings.owner })
  opened(book.close)
  const replies = await openKeptReplies({ disk, clock, log }, paths.replies, (key) =>
    epochOf(book.read(), key),
  )
  opened(replies.close)
  const generation = await nextGeneration(disk, paths.generation)
  const told = await openTold({ disk, clock, log }, paths.told)
  opened(told.close)
  const side = await openTaskSide({
    disk,
    clock,
    paths,
    log,
    launcher: deps.launcher,
    workspaces: () => settings.workspaces,
    standing: (sender) => standsNow(book.read(), sender, nowSeconds(clock)),
    evaluated: (taskId) => void (taskId === null ? summaries.anyChanged() : summaries.taskChanged(taskId)),
  })
  opened(side.close)

  const keys = createPeerKeys(hostKey.secret, (peer) => isKnown(book.read(), peer))
  const keyOf = keys.get
  const sealer: Sealer = { signer, random, keyOf }
  const links = createRelayLinks(
    {
      signer,
      clock,
      random,
      dial: deps.dial,
      ...(deps.information === undefined ? {} : { information: deps.information }),
      afterGap: () => nudgeFilters(book.read(), nowSeconds(clock), keyOf),
      verify: (event) => accepting && requests.verify(event),
      onEvent: (event, arrival) => requests.receive(event, arrival),
      ...(deps.relayLifetimeSeconds === undefined ? {} : { lifetimeSeconds: deps.relayLifetimeSeconds }),
    },
    counters,
    log,
  )
  const telling = { clock, book, sealer, log, publish: links.publish }
  const announcer = createAnnouncer({ ...telling, generation, telemetry: deps.telemetry ?? noTelemetry })
  const summaries = createSummaries({ ...telling, ...side, told })
  const nudges = createNudges(telling)
  opened(async () => {
    for (const part of [announcer, summaries, nudges]) part.close()
  })
  const context: DispatchContext = {
    ...side,
    disk,
    clock,
    random,
    book,
    settings: () => settings,
    mayCreate: createCreationLimit(clock),
    sealer,
    publish: links.publish,
    enrolled: announcer.announceTo,
    invitationRelay: () => links.urls()[0] ?? '',
    eventBytesMax: links.eventBytesMax,
    forget(device) {
      replies.drop(device)
      keys.drop(device)
      links.withdraw(device)
      void side.commands.evaluateAll()
    },
  }
  const renewals = createRenewals(context, log)
  opened(renewals.close)
  const requests = createRequests({
    sealer,
    keyOf,
    policy: policyFor(deps, settings),
    book,
    replies,
    gate: createStrangerGate(clock),
    counters,
    context,
    log,
    publish: links.publish,
    enrolled: announcer.announceTo,
    heard: renewals.heard,
    nudged(device) {
      void side.commands.evaluateAll()
      announcer.announceTo(device)
    },
    undelivered: nudges.undelivered,
  })
  await summaries.begin()
  return {
    home,
    book,
    side,
    context,
    counters,
    links,
    requests,
    announcer,
    generation,
    settings: () => settings,
    take(next) {
      const urls = relaysOf(deps, next)
      settings = next
      links.serve(urls)
    },
    refuseMore() {
      accepting = false
      for (const part of [announcer, summaries, nudges]) part.close()
    },
  }
}

/** The relays to serve, the primary first. */
function relaysOf(deps: ServiceDeps, settings: ServeSettings): string[] {
  const policy = policyFor(deps, settings)
  const urls = [...new Set([...(deps.relays ?? []), ...settings.relays])]
  if (urls.length === 0) {
    throw new Refusal('configuration', 'this host has no relay', {
      hint: 'drawbridge relay add wss://…, or drawbridge serve --embedded-relay',
    })
  }
  return urls.map((url) => admitted(url, policy))
}

function admitted(url: string, policy: RelayPolicy): string {
  try {
    return checkRelayUrl(url, policy)
  } catch (error) {
    if (!isRefusal(error) || !url.startsWith('ws://')) throw error
    const hint = 'a relay on this machine without TLS is served with --loopback-test only'
    throw new Refusal(error.code, error.message, { hint, cause: error })
  }
}

function policyFor(deps: ServiceDeps, settings: ServeSettings): RelayPolicy {
  return deps.loopbackTest ? 'loopback_test' : policyOf(settings)
}
