import { replyHistorySeconds, unclaimedRepliesMax } from '../../limits.ts'
import { artifactKind, type OpenedEnvelope } from '../../protocol/envelope.ts'
import type { NostrEvent } from '../../protocol/event.ts'
import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import { connectRelay, type RelayConnection } from '../../protocol/relay-connection.ts'
import type { RelayPolicy } from '../../protocol/relay-url.ts'
import { openBy, type Sealer } from '../../protocol/sealer.ts'
import { type Clock, nowSeconds } from '../../seams/clock.ts'
import { type Random, randomId } from '../../seams/random.ts'
import type { DialRelay } from '../../seams/relay-socket.ts'
import { mailboxOf } from '../host-mail.ts'
import type { Answer, DeviceLink } from '../link.ts'
import { promised } from '../promised.ts'
import { relayRefusal } from '../relay-words.ts'
import { signerField } from '../remote-signer/messages.ts'
import { checkReply } from '../reply.ts'
import type { SignedRequest } from '../request.ts'

export interface OwnerLinkOptions {
  readonly sealer: Sealer
  readonly host: string
  readonly relay: string
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  readonly policy: RelayPolicy
}

interface Waiting {
  readonly asked: SignedRequest
  readonly settle: (answer: Answer) => void
  /** What is told when nothing better comes. */
  complaint: string
}

interface State {
  readonly options: OwnerLinkOptions
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
 * A link as a device has it, for the owner: everything is opened by a key that may live elsewhere and take its time,
 * so only what the host put into the mailbox of a request is opened at all.
 * @see spec/wire.md §8
 */
export function openOwnerLink(options: OwnerLinkOptions): DeviceLink {
  const { sealer, host, relay, clock, dial, random } = options
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
  const filters = () => {
    const since = Math.max(0, nowSeconds(clock) - replyHistorySeconds)
    return [{ kinds: [artifactKind], authors: [host], '#p': [sealer.publicKey], since }]
  }
  const subscription = randomId(random).slice(0, 16)
  state.connection = connectRelay(
    { url: relay, signer: sealer, clock, dial, subscription, filters },
    {
      event: (event) => hear(state, event),
      live: () => live.resolve({ ok: true }),
      published(id, outcome) {
        for (const waiting of state.waiting.values()) {
          if (outcome.outcome === 'refused' && waiting.asked.event.id === id)
            waiting.complaint = relayRefusal(outcome.prefix, outcome.message).words
        }
      },
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
    const timer = state.options.clock.after(waitMs, () => {
      waiting.settle({ heard: 'silence', why: waiting.complaint, lost: false })
    })
    const waiting: Waiting = {
      asked,
      complaint: 'no answer in time; a host says nothing to a clock that is more than 60 seconds off',
      settle(answer) {
        timer.cancel()
        state.connection?.forget(asked.event.id)
        state.waiting.delete(asked.body.request)
        resolve(answer)
        closeIfDone(state)
      },
    }
    state.waiting.set(asked.body.request, waiting)
    for (const event of state.unclaimed) {
      if (mailboxOf(event) === asked.body.request) void readFor(state, waiting, event)
    }
    state.connection?.publish(asked.event)
  })
}

function hear(state: State, event: NostrEvent): void {
  // Whoever is not the host could make the owner's signer work for nothing.
  if (event.pubkey !== state.options.host) return
  const waiting = state.waiting.get(mailboxOf(event))
  if (waiting !== undefined) {
    void readFor(state, waiting, event)
    return
  }
  state.unclaimed.push(event)
  if (state.unclaimed.length > unclaimedRepliesMax) state.unclaimed.shift()
}

async function readFor(state: State, waiting: Waiting, event: NostrEvent): Promise<void> {
  const { sealer, policy, clock } = state.options
  const { asked } = waiting
  try {
    const opened = await openBy(sealer, event)
    const self = sealer.publicKey
    const result = checkReply(opened, { self, open: noGrant, asked, now: nowSeconds(clock), policy })
    waiting.settle({ heard: 'reply', result })
  } catch (error) {
    if (!isRefusal(error)) throw error
    const why = `an answer came, and was not opened: ${error.message}`
    // A broken event is no answer, and the right one may still come; the signer has said its word.
    if (error.field === signerField) waiting.settle({ heard: 'silence', why, lost: false })
    else waiting.complaint = why
  }
}

/** No grant is ever for the owner. */
function noGrant(): OpenedEnvelope {
  throw new Refusal('malformed', 'a grant for the owner')
}

function closeIfDone(state: State): void {
  if (state.retiring && state.waiting.size === 0) shut(state)
}

function shut(state: State): void {
  state.connection?.close()
  end(state, 'closed')
}

function end(state: State, why: string): void {
  state.open = false
  state.becameLive({ ok: false, why })
  state.over()
  for (const waiting of [...state.waiting.values()]) waiting.settle({ heard: 'silence', why, lost: true })
}
