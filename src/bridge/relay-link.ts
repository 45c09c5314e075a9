import { relayLifetimeSeconds, relayReadySeconds, seenEventsMax } from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { connectRelay, type RelayConnection, type RelayEnding } from '../protocol/relay-connection.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import { eventBytesUnder, type RelayLimits } from '../protocol/relay-limits.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import { nowSeconds, type Timer } from '../seams/clock.ts'
import { backoffMs, failuresAfter } from './backoff.ts'
import { createPublications, type Publications } from './publications.ts'
import { createRelayKnowledge, type RelayKnowledge } from './relay-knowledge.ts'
import type { RelayLinkOptions } from './relay-link-options.ts'
import type { RelayState } from './relay-state.ts'
import { subscriptionFilters, subscriptionId } from './relay-subscription.ts'
import { createSeenEvents, type SeenEvents } from './seen-events.ts'

export interface RelayLink {
  readonly url: string
  /** Resolves when a subscription is live, or after `relayReadySeconds`. Never rejects. */
  readonly ready: Promise<void>
  state(): RelayState
  /** What the relay says that it takes. */
  limits(): RelayLimits
  /**
   * Publishes until the relay says something final or host time reaches `freshUntil` (Unix seconds).
   * @param slot gives up what waits under the same name
   */
  publish(event: NostrEvent, freshUntil: number, slot?: string): Promise<PublishOutcome>
  /** Gives up what waits for one recipient. */
  withdraw(recipient: string): void
  close(): void
}

interface Numbered {
  readonly number: number
  readonly connection: RelayConnection
}

interface State {
  readonly options: RelayLinkOptions
  readonly seen: SeenEvents
  readonly publications: Publications
  readonly knowledge: RelayKnowledge
  readonly becameReady: () => void
  /** The connection in service, once live; it stays while its successor is being dialled. */
  serving: Numbered | null
  /** The connection that is being dialled. */
  coming: Numbered | null
  /** When a connection in service was last heard, in milliseconds of host time; null: there never was one. */
  heardMs: number | null
  dialled: number
  /** Failures in a row, for the pause before the next attempt. */
  failures: number
  /** When the serving connection took over, in milliseconds of host time. */
  servingSinceMs: number
  retry: Timer | null
  renewal: Timer | null
  shown: Pick<RelayState, 'state' | 'since' | 'last_event' | 'last_error' | 'reconnects'>
}

/**
 * A resident link to one relay: one subscription to what is sent to the host, kept without a gap. A successor is
 * live before a connection's lifetime ends; a lost connection is dialled again with jittered exponential backoff.
 * Each verified event is handed on once, whatever its date, and what is asked for next depends on the host's clock
 * alone.
 * @see spec/wire.md §8
 */
export function createRelayLink(options: RelayLinkOptions): RelayLink {
  const { clock, url } = options
  let becameReady: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    becameReady = resolve
  })
  const readyLimit = clock.after(relayReadySeconds * 1000, becameReady)
  const state: State = {
    options,
    seen: createSeenEvents(seenEventsMax),
    publications: createPublications(clock, options.random, () => connectionsOf(state)),
    knowledge: createRelayKnowledge(url, clock, options.information),
    becameReady() {
      readyLimit.cancel()
      becameReady()
    },
    serving: null,
    coming: null,
    heardMs: null,
    dialled: 0,
    failures: 0,
    servingSinceMs: 0,
    retry: null,
    renewal: null,
    shown: {
      state: 'connecting',
      since: nowSeconds(clock),
      last_event: null,
      last_error: null,
      reconnects: 0,
    },
  }
  dialNext(state)
  return {
    url,
    ready,
    state: () => stateOf(state),
    limits: () => state.knowledge.limits(),
    publish: (event, freshUntil, slot) => state.publications.publish(event, freshUntil, slot),
    withdraw: state.publications.withdraw,
    close: () => close(state),
  }
}

/** The one in service first; before there is one, what is being dialled takes events and sends them when it can. */
function connectionsOf({ serving, coming }: State): RelayConnection[] {
  return [serving, coming].flatMap((one) => (one === null ? [] : [one.connection]))
}

function dialNext(state: State): void {
  if (state.coming !== null || state.shown.state === 'closed') return
  const { url, signer, clock, random, dial } = state.options
  state.retry?.cancel()
  state.retry = null
  state.dialled += 1
  const number = state.dialled
  if (state.serving === null) show(state, { state: 'connecting' })
  state.knowledge.refresh()
  const filters = () => filtersOf(state)
  const subscription = subscriptionId(random, state.knowledge.limits())
  let endedAtOnce: RelayEnding | null = null
  const connection = connectRelay(
    { url, signer, clock, dial, subscription, filters },
    {
      event: (event, stored) => arrive(state, number, event, stored),
      live: () => tookOver(state, number),
      published: (id, outcome) => state.publications.answered(id, outcome),
      ended(ending) {
        endedAtOnce = ending
        lost(state, number, ending)
      },
    },
  )
  if (endedAtOnce === null) state.coming = { number, connection }
}

function filtersOf({ options, knowledge, serving, heardMs }: State): Filter[] {
  const { clock, signer, afterGap, lifetimeSeconds = relayLifetimeSeconds } = options
  return subscriptionFilters({
    host: signer.publicKey,
    nowMs: clock.nowMs(),
    heardMs: serving?.connection.heardMs() ?? heardMs,
    lifetimeSeconds,
    limits: knowledge.limits(),
    afterGap,
  })
}

function arrive(state: State, number: number, event: NostrEvent, stored: boolean): void {
  const sighting = state.seen.sight(event.id, number)
  if (sighting === 'overlap' || (sighting === 'again' && stored)) return
  if (!state.options.verify(event)) return
  state.seen.remember(event.id, number)
  state.shown = { ...state.shown, last_event: nowSeconds(state.options.clock) }
  state.options.onEvent(event, { relay: state.options.url, stored, again: sighting === 'again' })
}

/** A connection is live: it serves from now on, and only now is its predecessor closed. */
function tookOver(state: State, number: number): void {
  const { coming, options } = state
  if (coming?.number === number) {
    const predecessor = state.serving
    state.serving = coming
    state.coming = null
    predecessor?.connection.close()
    const renewMs = (options.lifetimeSeconds ?? relayLifetimeSeconds) * 900
    state.renewal?.cancel()
    state.renewal = options.clock.after(renewMs, () => {
      state.failures = 0
      dialNext(state)
    })
    state.servingSinceMs = options.clock.nowMs()
    if (state.shown.state !== 'live') show(state, { state: 'live', last_error: null })
    state.becameReady()
  }
  if (state.serving?.number === number) state.publications.resend()
}

/** A connection ended. The other one, if there is one, goes on; the next is dialled after a pause. */
function lost(state: State, number: number, { prefix, message }: RelayEnding): void {
  if (state.coming?.number === number) state.coming = null
  if (state.serving?.number === number) {
    // A relay that lets us in only to cut us off at once is a failing one.
    if (state.options.clock.nowMs() - state.servingSinceMs >= steadyMs) state.failures = 0
    state.heardMs = state.serving.connection.heardMs()
    state.serving = null
  }
  state.failures = failuresAfter(state.failures, prefix)
  const last_error = prefix === null ? message : `${prefix}: ${message}`
  if (state.serving === null) {
    state.renewal?.cancel()
    show(state, { state: 'waiting', last_error, reconnects: state.shown.reconnects + 1 })
  }
  if (state.coming === null) {
    state.retry?.cancel()
    state.retry = state.options.clock.after(backoffMs(state.failures, state.options.random), () =>
      dialNext(state),
    )
  }
}

/** After so long in service a lost connection is the first failure, not one more. */
const steadyMs = 10_000

function show(state: State, changes: Partial<State['shown']>): void {
  const since = changes.state === state.shown.state ? state.shown.since : nowSeconds(state.options.clock)
  state.shown = { ...state.shown, since, ...changes }
  state.options.onState?.(stateOf(state))
}

function stateOf({ options, shown, publications, serving, knowledge }: State): RelayState {
  const limits = knowledge.limits()
  return {
    url: options.url,
    ...shown,
    unpublished: publications.count(),
    auth: serving?.connection.auth() ?? 'none',
    event_bytes_max: eventBytesUnder(limits),
    limits,
    note: knowledge.note(),
  }
}

function close(state: State): void {
  if (state.shown.state === 'closed') return
  state.retry?.cancel()
  state.renewal?.cancel()
  state.becameReady()
  state.publications.close()
  state.serving?.connection.close()
  state.coming?.connection.close()
  state.serving = null
  state.coming = null
  show(state, { state: 'closed' })
}
