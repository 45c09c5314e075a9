import { relayAgainMs, unclaimedRepliesMax } from '../limits.ts'
import type { Result } from '../protocol/bodies/reply.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { isRefusal } from '../protocol/refusal.ts'
import { connectRelay, type RelayConnection } from '../protocol/relay-connection.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { type Clock, nowSeconds, type Timer } from '../seams/clock.ts'
import { type Random, randomId } from '../seams/random.ts'
import type { DialRelay } from '../seams/relay-socket.ts'
import { silenceWords } from './clock-words.ts'
import { type Ears, type HostMailboxes, hostMailboxes, hostMailFilters, mailboxOf } from './host-mail.ts'
import type { Identity } from './identity.ts'
import { isWrongOutcome } from './outcome-check.ts'
import { newestSign, type Sign } from './presence.ts'
import { promised } from './promised.ts'
import { relayRefusal } from './relay-words.ts'
import { readReply } from './reply.ts'
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

export interface DeviceLinkOptions {
  readonly identity: Identity
  readonly host: string
  readonly relay: string
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  readonly policy: RelayPolicy
  readonly ears?: Ears
  /** More to ask the relay for, of what the host sent this device. */
  readonly wanted?: () => readonly Filter[]
}

/** One short-lived connection of a device to its host's relay. */
export interface DeviceLink {
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
  readonly options: DeviceLinkOptions
  readonly waiting: Map<string, Waiting>
  /** What came for no request of this connection: the reply to one that is about to be asked again may be there. */
  readonly unclaimed: NostrEvent[]
  readonly becameLive: (outcome: { ok: true } | { ok: false; why: string }) => void
  readonly over: () => void
  readonly mailboxes: HostMailboxes
  connection: RelayConnection | null
  sign: Sign | null
  open: boolean
  retiring: boolean
}

/**
 * Dials the host's relay and subscribes to what the host sends this device before anything is sent, so that no reply
 * can slip by. Replies of the last minutes are heard too: one to a request that an earlier connection sent.
 * @see spec/wire.md §8
 */
export function openDeviceLink(options: DeviceLinkOptions): DeviceLink {
  const { identity, host, relay, clock, dial, random, ears, wanted } = options
  const live = promised<{ ok: true } | { ok: false; why: string }>()
  const ended = promised<void>()
  const mailboxes = hostMailboxes(identity.keys.get(host))
  const state: State = {
    options,
    waiting: new Map(),
    unclaimed: [],
    becameLive: live.resolve,
    over: ended.resolve,
    mailboxes,
    connection: null,
    sign: null,
    open: true,
    retiring: false,
  }
  const device = identity.signer.publicKey
  const filters = () => hostMailFilters({ host, device, now: nowSeconds(clock) }, mailboxes, wanted?.() ?? [])
  const subscription = randomId(random).slice(0, 16)
  state.connection = connectRelay(
    { url: relay, signer: identity.signer, clock, dial, subscription, filters },
    {
      event: (event, stored) => hear(state, event, stored),
      live() {
        live.resolve({ ok: true })
        ears?.live?.()
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
  return new Promise((resolve) => {
    const { clock } = state.options
    const timer = clock.after(waitMs, () => {
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
        state.connection?.forget(asked.event.id)
        state.waiting.delete(asked.body.request)
        resolve(answer)
        closeIfDone(state)
      },
    }
    state.waiting.set(asked.body.request, waiting)
    for (const event of state.unclaimed)
      if (mailboxOf(event) === asked.body.request) readFor(state, waiting, event)
    if (state.waiting.has(asked.body.request)) state.connection?.publish(asked.event)
  })
}

function whySilent({ sign, options }: State, { complaint, taken }: Waiting): string {
  if (complaint !== null) return complaint
  const words = silenceWords(sign, nowSeconds(options.clock))
  return taken ? words : `${words}; nor did the relay say that it took the request`
}

function hear(state: State, event: NostrEvent, stored: boolean): void {
  const { host, ears } = state.options
  if (event.pubkey !== host) return
  const mailbox = mailboxOf(event)
  const waiting = state.waiting.get(mailbox)
  const { presence, nudge, summary } = state.mailboxes
  if (waiting !== undefined) readFor(state, waiting, event)
  else if (mailbox === presence) hearPresence(state, event, stored)
  else if (mailbox === nudge) ears?.nudge?.(event)
  else if (mailbox === summary) ears?.summary?.(event)
  else {
    state.unclaimed.push(event)
    if (state.unclaimed.length > unclaimedRepliesMax) state.unclaimed.shift()
    ears?.other?.(event)
  }
}

function hearPresence(state: State, event: NostrEvent, stored: boolean): void {
  const { identity, host, policy, clock, ears } = state.options
  const terms = { identity, host, policy, now: nowSeconds(clock), live: !stored }
  const sign = newestSign(state.sign, event, terms)
  if (sign === null || sign === state.sign) return
  state.sign = sign
  ears?.presence?.(sign)
}

function readFor(state: State, waiting: Waiting, event: NostrEvent): void {
  const { identity, policy, clock } = state.options
  try {
    const result = readReply(event, { identity, asked: waiting.asked, now: nowSeconds(clock), policy })
    waiting.settle({ heard: 'reply', result })
  } catch (error) {
    if (!isRefusal(error)) throw error
    // Anybody can put an event into a mailbox; only what the host itself got wrong is worth telling.
    if (error.code === 'stale') waiting.complaint = error.message
    if (isWrongOutcome(error)) {
      const why = `the host answered something else: ${error.message}`
      waiting.settle({ heard: 'silence', why, lost: false, wrong: true })
    }
  }
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
