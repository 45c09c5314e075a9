import { presencesAsked, replyHistorySeconds, unclaimedRepliesMax } from '../limits.ts'
import type { Result } from '../protocol/bodies/reply.ts'
import { artifactKind } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { presenceMailbox } from '../protocol/mailbox.ts'
import { isRefusal } from '../protocol/refusal.ts'
import { connectRelay, type RelayConnection } from '../protocol/relay-connection.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import { type Random, randomId } from '../seams/random.ts'
import type { DialRelay } from '../seams/relay-socket.ts'
import { silenceWords } from './clock-words.ts'
import type { Identity } from './identity.ts'
import { newestSign, type Sign } from './presence.ts'
import { readReply } from './reply.ts'
import type { SignedRequest } from './request.ts'

/** How one request came out on one connection. Silence says nothing about the request, only why none was heard. */
export type Answer =
  | { readonly heard: 'reply'; readonly result: Result }
  | { readonly heard: 'silence'; readonly why: string /** The connection is gone. */; readonly lost: boolean }

export interface DeviceLinkOptions {
  readonly identity: Identity
  readonly host: string
  readonly relay: string
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  readonly policy: RelayPolicy
  /** An event of the host's that is neither a reply to what was asked nor presence: perhaps a renewed grant. */
  readonly onOther?: (event: NostrEvent) => void
}

/** One short-lived connection of a device to its host's relay. */
export interface DeviceLink {
  /** Resolves once replies would be heard; with the reason when the connection ended before. */
  readonly live: Promise<{ ok: true } | { ok: false; why: string }>
  /** Sends a signed request and waits at most `waitMs` for its reply. The same request may be asked again. */
  ask(asked: SignedRequest, waitMs: number): Promise<Answer>
  isOpen(): boolean
  close(): void
}

interface Waiting {
  readonly asked: SignedRequest
  readonly settle: (answer: Answer) => void
  /** The last thing that was wrong with what looked like the reply, or with the sending. */
  complaint: string | null
}

interface State {
  readonly options: DeviceLinkOptions
  readonly waiting: Map<string, Waiting>
  /** What came for no request of this connection: the reply to one that is about to be asked again may be there. */
  readonly unclaimed: NostrEvent[]
  readonly becameLive: (outcome: { ok: true } | { ok: false; why: string }) => void
  connection: RelayConnection | null
  sign: Sign | null
  open: boolean
}

/**
 * Dials the host's relay and subscribes to what the host sends this device before anything is sent, so that no reply
 * can slip by. Replies of the last minutes are heard too: one to a request that an earlier connection sent.
 * @see spec/wire.md §8
 */
export function openDeviceLink(options: DeviceLinkOptions): DeviceLink {
  const { identity, relay, clock, dial, random } = options
  let becameLive: State['becameLive'] = () => {}
  const live = new Promise<{ ok: true } | { ok: false; why: string }>((resolve) => {
    becameLive = resolve
  })
  const state: State = {
    options,
    waiting: new Map(),
    unclaimed: [],
    becameLive,
    connection: null,
    sign: null,
    open: true,
  }
  const subscription = randomId(random).slice(0, 16)
  state.connection = connectRelay(
    { url: relay, signer: identity.signer, clock, dial, subscription, filters: () => filtersOf(options) },
    {
      event: (event, stored) => hear(state, event, stored),
      live: () => becameLive({ ok: true }),
      published: (id, outcome) => noteOutcome(state, id, outcome),
      ended: ({ message }) => end(state, `the relay could not be used: ${message}`),
    },
  )
  return {
    live,
    ask: (asked, waitMs) => ask(state, asked, waitMs),
    isOpen: () => state.open,
    close() {
      state.connection?.close()
      end(state, 'closed')
    },
  }
}

/** What the host sent lately; and its presences of the latest dates, however old, to compare clocks by. */
function filtersOf({ identity, host, clock }: DeviceLinkOptions) {
  const fromHost = { kinds: [artifactKind], authors: [host], '#p': [identity.signer.publicKey] }
  return [
    { ...fromHost, since: Math.max(0, nowSeconds(clock) - replyHistorySeconds) },
    { ...fromHost, '#h': [presenceMailbox(identity.keys.get(host))], limit: presencesAsked },
  ]
}

function ask(state: State, asked: SignedRequest, waitMs: number): Promise<Answer> {
  if (!state.open) return Promise.resolve({ heard: 'silence', why: 'not connected', lost: true })
  return new Promise((resolve) => {
    const { clock } = state.options
    const timer = clock.after(waitMs, () => {
      const why = waiting.complaint ?? silenceWords(state.sign, nowSeconds(clock))
      waiting.settle({ heard: 'silence', why, lost: false })
    })
    const waiting: Waiting = {
      asked,
      complaint: null,
      settle(answer) {
        timer.cancel()
        state.connection?.forget(asked.event.id)
        state.waiting.delete(asked.body.request)
        resolve(answer)
      },
    }
    state.waiting.set(asked.body.request, waiting)
    for (const event of state.unclaimed)
      if (mailboxOf(event) === asked.body.request) readFor(state, waiting, event)
    if (state.waiting.has(asked.body.request)) state.connection?.publish(asked.event)
  })
}

function hear(state: State, event: NostrEvent, stored: boolean): void {
  const { identity, host, policy, clock, onOther } = state.options
  const now = nowSeconds(clock)
  const waiting = state.waiting.get(mailboxOf(event))
  if (waiting !== undefined) {
    readFor(state, waiting, event)
    return
  }
  const before = state.sign
  state.sign = newestSign(before, event, { identity, host, policy, now, live: !stored })
  if (state.sign !== before) return
  state.unclaimed.push(event)
  if (state.unclaimed.length > unclaimedRepliesMax) state.unclaimed.shift()
  onOther?.(event)
}

function readFor(state: State, waiting: Waiting, event: NostrEvent): void {
  const { identity, policy, clock } = state.options
  try {
    const result = readReply(event, { identity, asked: waiting.asked, now: nowSeconds(clock), policy })
    waiting.settle({ heard: 'reply', result })
  } catch (error) {
    if (!isRefusal(error)) throw error
    // Anybody can put an event into a mailbox; only what a genuine answer says of the clocks is worth telling.
    if (error.code === 'stale') waiting.complaint = error.message
  }
}

function mailboxOf(event: NostrEvent): string {
  return event.tags.find((tag) => tag[0] === 'h')?.[1] ?? ''
}

/** A relay's refusal is not the host's: the request stays undecided. */
function noteOutcome(state: State, id: string, outcome: PublishOutcome): void {
  if (outcome.outcome !== 'refused') return
  for (const waiting of state.waiting.values()) {
    if (waiting.asked.event.id === id) waiting.complaint = `the relay did not take it: ${outcome.message}`
  }
}

function end(state: State, why: string): void {
  state.open = false
  state.becameLive({ ok: false, why })
  for (const waiting of [...state.waiting.values()]) waiting.settle({ heard: 'silence', why, lost: true })
}
