import { relayAgainMs, unclaimedRepliesMax } from '../limits.ts'
import type { Result } from '../protocol/bodies/reply.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { isRefusal, type Refusal } from '../protocol/refusal.ts'
import { connectRelay, type RelayConnection } from '../protocol/relay-connection.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import type { EventSigner } from '../protocol/signer.ts'
import type { Clock, Timer } from '../seams/clock.ts'
import { type Random, randomId } from '../seams/random.ts'
import type { DialRelay } from '../seams/relay-socket.ts'
import { mailboxOf } from './host-mail.ts'
import { isWrongOutcome } from './outcome-check.ts'
import { promised } from './promised.ts'
import { relayRefusal } from './relay-words.ts'
import type { SignedRequest } from './request.ts'

/** How one request came out on one connection. Silence says nothing about the request, only why none was heard. */
export type Answer =
  | { readonly heard: 'reply'; readonly result: Result }
  | {
      readonly heard: 'silence'
      readonly why: string
      /** The connection is gone. */
      readonly lost: boolean
      /** Nothing was sent: it is not time yet. */
      readonly postponed?: boolean
      /** The host did say something, and it was no answer to this. */
      readonly wrong?: boolean
    }

export interface LinkOptions {
  readonly host: string
  readonly relay: string
  /** Proves to the relay who asks. */
  readonly signer: EventSigner
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  readonly filters: () => readonly Filter[]
  /** The answer that the host put into the mailbox of a request. Refuses what is none. */
  readonly read: (event: NostrEvent, asked: SignedRequest) => Result | Promise<Result>
  /**
   * What to tell of something in that mailbox that was refused, and whether to wait no longer; null: nothing, since
   * anybody can put an event there.
   */
  readonly complain: (refused: Refusal) => { readonly why: string; readonly final: boolean } | null
  /** Takes what the host sent for no request of this connection; false: it may be the reply to one to come. */
  readonly other?: (event: NostrEvent, stored: boolean) => boolean
  readonly becameLive?: () => void
  /** Why there is no answer, in words, when nothing better is known. */
  readonly silence: () => string
}

/** One short-lived connection to a host's relay. */
export interface HostLink {
  /** Resolves once replies would be heard; with the reason when the connection ended before. */
  readonly live: Promise<{ ok: true } | { ok: false; why: string }>
  /** Sends a signed request and waits at most `waitMs` for its reply. The same request may be asked again. */
  ask(asked: SignedRequest, waitMs: number): Promise<Answer>
  /** Publishes an event that has no answer. */
  tell(event: NostrEvent): void
  isOpen(): boolean
  /** Resolves when the connection is over, whoever ended it. */
  readonly ended: Promise<void>
  /** Closes once nothing is asked on it any more. */
  retire(): void
  close(): void
}

interface Waiting {
  readonly asked: SignedRequest
  readonly settle: (answer: Answer) => void
  /** Whether the relay said that it has the request. */
  taken: boolean
  /** Publishes it once more, at a relay that could not take it before. */
  again: Timer | null
  /** The last thing that was wrong with what looked like the reply, or with the sending. */
  complaint: string | null
}

interface State {
  readonly options: LinkOptions
  readonly waiting: Map<string, Waiting>
  /** What came for no request of this connection: the reply to one that is about to be asked again may be there. */
  readonly unclaimed: NostrEvent[]
  readonly becameLive: (outcome: { ok: true } | { ok: false; why: string }) => void
  readonly over: () => void
  connection: RelayConnection | null
  open: boolean
  retiring: boolean
}

/**
 * Dials the host's relay and subscribes to what the host sends before anything is sent, so that no reply can slip by.
 * @see spec/wire.md §8
 */
export function openLink(options: LinkOptions): HostLink {
  const { relay, signer, clock, random, dial, filters } = options
  const live = promised<{ ok: true } | { ok: false; why: string }>()
  const ended = promised<void>()
  const state: State = {
    options,
    waiting: new Map(),
    unclaimed: [],
    becameLive: live.resolve,
    over: ended.resolve,
    connection: null,
    open: true,
    retiring: false,
  }
  const subscription = randomId(random).slice(0, 16)
  state.connection = connectRelay(
    { url: relay, signer, clock, dial, subscription, filters },
    {
      event: (event, stored) => hear(state, event, stored),
      live() {
        live.resolve({ ok: true })
        options.becameLive?.()
      },
      published: (id, outcome) => noteOutcome(state, id, outcome),
      ended: ({ message }) => end(state, `the relay could not be used: ${message}`),
    },
  )
  return {
    live: live.promise,
    ended: ended.promise,
    ask: (asked, waitMs) => ask(state, asked, waitMs),
    tell: (event) => state.connection?.publish(event),
    isOpen: () => state.open,
    retire() {
      state.retiring = true
      closeIfDone(state)
    },
    close: () => shut(state),
  }
}

function ask(state: State, asked: SignedRequest, waitMs: number): Promise<Answer> {
  if (!state.open) return Promise.resolve({ heard: 'silence', why: 'not connected', lost: true })
  const { request } = asked.body
  return new Promise((resolve) => {
    const timer = state.options.clock.after(waitMs, () => {
      waiting.settle({ heard: 'silence', why: whySilent(state, waiting), lost: false })
    })
    const waiting: Waiting = {
      asked,
      taken: false,
      again: null,
      complaint: null,
      settle(answer) {
        timer.cancel()
        waiting.again?.cancel()
        // What is read slowly may be told twice, and its request be asked again by then.
        if (state.waiting.get(request) === waiting) {
          state.connection?.forget(asked.event.id)
          state.waiting.delete(request)
        }
        resolve(answer)
        closeIfDone(state)
      },
    }
    state.waiting.set(request, waiting)
    for (const event of state.unclaimed) if (mailboxOf(event) === request) readFor(state, waiting, event)
    if (state.waiting.has(request)) state.connection?.publish(asked.event)
  })
}

function whySilent({ options }: State, { complaint, taken }: Waiting): string {
  if (complaint !== null) return complaint
  const words = options.silence()
  return taken ? words : `${words}; nor did the relay say that it took the request`
}

function hear(state: State, event: NostrEvent, stored: boolean): void {
  const { host, other } = state.options
  if (event.pubkey !== host) return
  const waiting = state.waiting.get(mailboxOf(event))
  if (waiting !== undefined) {
    readFor(state, waiting, event)
    return
  }
  if (other?.(event, stored) === true) return
  state.unclaimed.push(event)
  if (state.unclaimed.length > unclaimedRepliesMax) state.unclaimed.shift()
}

/** An answer that can be read at once is heard at once. */
function readFor(state: State, waiting: Waiting, event: NostrEvent): void {
  const heard = (result: Result) => waiting.settle({ heard: 'reply', result })
  const failed = (error: unknown) => complain(state, waiting, error)
  try {
    const result = state.options.read(event, waiting.asked)
    if (result instanceof Promise) void result.then(heard, failed)
    else heard(result)
  } catch (error) {
    failed(error)
  }
}

function complain({ options }: State, waiting: Waiting, error: unknown): void {
  if (!isRefusal(error)) throw error
  if (isWrongOutcome(error)) {
    const why = `the host answered something else: ${error.message}`
    waiting.settle({ heard: 'silence', why, lost: false, wrong: true })
    return
  }
  const complaint = options.complain(error)
  if (complaint?.final === true) waiting.settle({ heard: 'silence', why: complaint.why, lost: false })
  else if (complaint !== null) waiting.complaint = complaint.why
}

/** A relay's refusal is not the host's: the request stays undecided. What cannot help is told without waiting. */
function noteOutcome(state: State, id: string, outcome: PublishOutcome): void {
  const waiting = [...state.waiting.values()].find(({ asked }) => asked.event.id === id)
  if (waiting === undefined) return
  if (outcome.outcome === 'accepted') waiting.taken = true
  if (outcome.outcome !== 'refused') return
  const { words, again } = relayRefusal(outcome.prefix, outcome.message)
  waiting.complaint = words
  if (!again) {
    waiting.settle({ heard: 'silence', why: words, lost: false })
    return
  }
  waiting.again?.cancel()
  waiting.again = state.options.clock.after(relayAgainMs, () => {
    state.connection?.publish(waiting.asked.event)
  })
}

function closeIfDone(state: State): void {
  if (state.retiring && state.waiting.size === 0) shut(state)
}

function shut(state: State): void {
  state.connection?.close()
  end(state, 'the connection was closed before an answer came')
}

function end(state: State, why: string): void {
  state.open = false
  state.becameLive({ ok: false, why })
  state.over()
  for (const waiting of [...state.waiting.values()]) waiting.settle({ heard: 'silence', why, lost: true })
}
