import { historySeconds, relayLifetimeSeconds, relayReadySeconds, seenEventsMax } from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { connectRelay, type RelayConnection, type RelayEnding } from '../protocol/relay-connection.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import type { Signer } from '../protocol/signer.ts'
import { type Clock, nowSeconds, type Timer } from '../seams/clock.ts'
import { type Random, randomId } from '../seams/random.ts'
import type { DialRelay } from '../seams/relay-socket.ts'
import { backoffMs } from './backoff.ts'
import { createPublications, type Publications } from './publications.ts'
import { createSeenEvents, type SeenEvents } from './seen-events.ts'

/** How an event reached the host. */
export interface Arrival {
  /** The relay it arrived on, exactly as dialled. */
  readonly relay: string
  /** It came before the end of the stored events: history, never "asked again". */
  readonly stored: boolean
  /** The same event was seen before on this very subscription, and came once more after its stored events ended. */
  readonly again: boolean
}

/** What `status` shows of one relay. Times are Unix seconds. */
export interface RelayState {
  readonly url: string
  readonly state: 'connecting' | 'live' | 'waiting' | 'closed'
  readonly since: number
  readonly last_event: number | null
  readonly last_error: string | null
  readonly reconnects: number
  readonly unpublished: number
}

export interface RelayLinkOptions {
  readonly url: string
  readonly signer: Signer
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  /**
   * Whether an event's ID and signature hold. Called for every event that was not seen before; only a true answer
   * marks the ID as seen, so a forgery never hides the genuine event. May say false for cost (strangers).
   */
  readonly verify: (event: NostrEvent) => boolean
  readonly onEvent: (event: NostrEvent, arrival: Arrival) => void
  readonly onState?: (state: RelayState) => void
  /** How long one connection serves before the next takes over. */
  readonly lifetimeSeconds?: number
}

export interface RelayLink {
  readonly url: string
  /** Resolves when a subscription is live, or after `relayReadySeconds`. Never rejects. */
  readonly ready: Promise<void>
  state(): RelayState
  /**
   * Publishes until the relay says something final or host time reaches `freshUntil` (Unix seconds).
   * @param slot gives up what waits under the same name
   */
  publish(event: NostrEvent, freshUntil: number, slot?: string): Promise<PublishOutcome>
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
  readonly becameReady: () => void
  /** The connection in service, once live; it stays while its successor is being dialled. */
  serving: Numbered | null
  /** The connection that is being dialled. */
  coming: Numbered | null
  dialled: number
  /** Failures in a row, for the pause before the next attempt. */
  failures: number
  /** When the serving connection took over, in milliseconds of host time. */
  servingSinceMs: number
  retry: Timer | null
  renewal: Timer | null
  shown: Omit<RelayState, 'url' | 'unpublished'>
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
    becameReady() {
      readyLimit.cancel()
      becameReady()
    },
    serving: null,
    coming: null,
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
    publish: (event, freshUntil, slot) => state.publications.publish(event, freshUntil, slot),
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
  const filters = () => [
    { kinds: [3188], '#p': [signer.publicKey], since: nowSeconds(clock) - historySeconds },
  ]
  const subscription = randomId(random).slice(0, 16)
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
    state.serving = null
  }
  state.failures = Math.max(state.failures + 1, prefix === 'rate-limited' ? rateLimitedFailures : 1)
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

/** A relay that asks for less traffic is left alone as after this many failures. */
const rateLimitedFailures = 5

function show(state: State, changes: Partial<State['shown']>): void {
  const since = changes.state === state.shown.state ? state.shown.since : nowSeconds(state.options.clock)
  state.shown = { ...state.shown, since, ...changes }
  state.options.onState?.(stateOf(state))
}

function stateOf({ options, shown, publications }: State): RelayState {
  return { url: options.url, ...shown, unpublished: publications.count() }
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
