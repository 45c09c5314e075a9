import { publishWaitSeconds, relayBufferedBytesMax } from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { relayAnswers } from '../protocol/relay-answers.ts'
import type { RelayConnection } from '../protocol/relay-connection.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import { type Clock, nowSeconds, type Timer } from '../seams/clock.ts'
import type { Random } from '../seams/random.ts'
import { backoffMs } from './backoff.ts'

/** Events on their way to one relay. */
export interface Publications {
  /**
   * @param freshUntil host time, Unix seconds, after which nobody wants the event any more
   * @param slot gives up what waits under the same name
   */
  publish(event: NostrEvent, freshUntil: number, slot?: string): Promise<PublishOutcome>
  /** What the relay said of one. */
  answered(id: string, outcome: PublishOutcome): void
  /** A connection became live: whatever has no answer, and is not waiting on it already, goes out on it. */
  resend(): void
  count(): number
  /** Gives up, as unknown, what waits for one recipient. */
  withdraw(recipient: string): void
  /** Ends the rest as unknown. */
  close(): void
}

interface Publication {
  readonly event: NostrEvent
  readonly freshUntil: number
  readonly slot: string | null
  readonly resolve: (outcome: PublishOutcome) => void
  readonly promise: Promise<PublishOutcome>
  /** How often the relay said that it may take it later. */
  refusals: number
  /** Since when it waits for its next turn, milliseconds of host time: when it last went out, or came. */
  sinceMs: number
  timer: Timer | null
}

interface State {
  readonly clock: Clock
  readonly random: Random
  readonly connections: () => readonly RelayConnection[]
  readonly waiting: Map<string, Publication>
  bytes: number
  /** Set while the relay wants less: after a pause one event at a time goes out. */
  slow: { readonly phase: 'pause' | 'one_by_one'; readonly refusals: number; readonly timer: Timer } | null
}

/**
 * Publishes each event on the current connection until the relay says something final of it; silence, a lost
 * connection and a passing refusal mean another try while it is fresh, and `unknown` when it no longer is. A relay that
 * limits our rate gets one event at a time, after a growing pause, until it keeps up again.
 * @param connections those that are open, the one to send on first
 * @see spec/wire.md §8
 */
export function createPublications(
  clock: Clock,
  random: Random,
  connections: () => readonly RelayConnection[],
): Publications {
  const state: State = { clock, random, connections, waiting: new Map(), bytes: 0, slow: null }
  return {
    publish: (event, freshUntil, slot) => publish(state, event, freshUntil, slot ?? null),
    answered: (id, outcome) => answered(state, id, outcome),
    resend() {
      const [current] = connections()
      for (const publication of [...state.waiting.values()])
        if (current?.isPending(publication.event.id) === false) attempt(state, publication)
    },
    count: () => state.waiting.size,
    withdraw(recipient) {
      for (const publication of [...state.waiting.values()])
        if (isFor(publication.event, recipient)) settle(state, publication, unknown)
    },
    close() {
      state.slow?.timer.cancel()
      state.slow = null
      for (const publication of [...state.waiting.values()]) settle(state, publication, unknown)
    },
  }
}

const unknown: PublishOutcome = { outcome: 'unknown' }

function publish(
  state: State,
  event: NostrEvent,
  freshUntil: number,
  slot: string | null,
): Promise<PublishOutcome> {
  const known = state.waiting.get(event.id)
  if (known !== undefined) return known.promise
  for (const other of [...state.waiting.values()])
    if (slot !== null && other.slot === slot) settle(state, other, unknown)
  if (state.bytes > relayBufferedBytesMax || nowSeconds(state.clock) >= freshUntil)
    return Promise.resolve(unknown)
  let resolve: (outcome: PublishOutcome) => void = () => {}
  const promise = new Promise<PublishOutcome>((settled) => {
    resolve = settled
  })
  const fresh = { refusals: 0, sinceMs: state.clock.nowMs(), timer: null }
  const publication: Publication = { event, freshUntil, slot, resolve, promise, ...fresh }
  state.waiting.set(event.id, publication)
  state.bytes += sizeOf(event)
  if (state.slow === null) attempt(state, publication)
  else tryAgain(state, publication, publishWaitSeconds * 1000)
  return promise
}

/** Sends it now and again later, unless nobody wants it any more. */
function attempt(state: State, publication: Publication): void {
  if (leftMs(state, publication) <= 0) {
    settle(state, publication, unknown)
    return
  }
  publication.sinceMs = state.clock.nowMs()
  state.connections()[0]?.publish(publication.event)
  tryAgain(state, publication, publishWaitSeconds * 1000)
}

function tryAgain(state: State, publication: Publication, ms: number): void {
  publication.timer?.cancel()
  publication.timer = state.clock.after(Math.min(ms, Math.max(0, leftMs(state, publication))), () => {
    const isFresh = leftMs(state, publication) > 0
    // While the relay wants less, only `sendOne` sends.
    if (isFresh && state.slow !== null) tryAgain(state, publication, ms)
    else attempt(state, publication)
  })
}

function leftMs({ clock }: State, { freshUntil }: Publication): number {
  return freshUntil * 1000 - clock.nowMs()
}

function answered(state: State, id: string, outcome: PublishOutcome): void {
  const publication = state.waiting.get(id)
  if (publication === undefined) return
  const action = outcome.outcome === 'refused' ? relayAnswers[outcome.prefix].publisher : 'done'
  const isPassing = action === 'slow_down' || action === 'again'
  if (!isPassing) {
    settle(state, publication, outcome)
  } else {
    publication.refusals += 1
    tryAgain(state, publication, backoffMs(publication.refusals + 1, state.random))
  }
  if (state.slow?.phase === 'one_by_one') {
    if (isPassing) pause(state, state.slow.refusals + 1)
    else sendOne(state, 0)
  } else if (state.slow === null && action === 'slow_down') {
    pause(state, 1)
  }
}

function pause(state: State, refusals: number): void {
  state.slow?.timer.cancel()
  const timer = state.clock.after(backoffMs(refusals + 1, state.random), () => sendOne(state, refusals))
  state.slow = { phase: 'pause', refusals, timer }
}

/** Sends what waited longest; with nothing left, the relay keeps up again. */
function sendOne(state: State, refusals: number): void {
  state.slow?.timer.cancel()
  const first = longestWaiting(state)
  if (first === null) {
    state.slow = null
    return
  }
  // One that is never answered does not hold up the others.
  const timer = state.clock.after(publishWaitSeconds * 1000, () => sendOne(state, refusals))
  state.slow = { phase: 'one_by_one', refusals, timer }
  attempt(state, first)
}

/** One that was refused has its turn before those that came later, or without end of new ones it would have none. */
function longestWaiting({ waiting }: State): Publication | null {
  let first: Publication | null = null
  for (const one of waiting.values()) if (first === null || one.sinceMs < first.sinceMs) first = one
  return first
}

function settle(state: State, publication: Publication, outcome: PublishOutcome): void {
  publication.timer?.cancel()
  state.waiting.delete(publication.event.id)
  state.bytes -= sizeOf(publication.event)
  for (const connection of state.connections()) connection.forget(publication.event.id)
  publication.resolve(outcome)
}

function isFor({ tags }: NostrEvent, recipient: string): boolean {
  return tags.some(([name, to]) => name === 'p' && to === recipient)
}

/** About what an event costs while it waits, in bytes. */
function sizeOf(event: NostrEvent): number {
  return event.content.length + 512
}
