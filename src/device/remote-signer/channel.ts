import {
  signerContentBytesMax,
  signerPageCharsMax,
  signerPagesMax,
  signerPersonMs,
  signerStoredMax,
  signerWaitMs,
} from '../../limits.ts'
import type { NostrEvent } from '../../protocol/event.ts'
import { conversationKey, decryptToBytes, encrypt } from '../../protocol/nip44.ts'
import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import { createSigner, verifyEvent } from '../../protocol/signer.ts'
import { type Clock, nowSeconds, type Timer } from '../../seams/clock.ts'
import { type Random, randomId } from '../../seams/random.ts'
import type { DialRelay } from '../../seams/relay-socket.ts'
import type { BunkerUrl } from './bunker-url.ts'
import { type Legs, openLegs } from './legs.ts'
import {
  readSignerAnswer,
  type SignerAnswer,
  type SignerMethod,
  signerField,
  signerKind,
  signerRequest,
  signerWords,
} from './messages.ts'

export interface ChannelOptions {
  readonly bunker: BunkerUrl
  /** The client's own secret key for this signer, 64 hex. */
  readonly client: string
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  /** Tells the person something that waits for them, in one line. */
  readonly tell: (line: string) => void
}

/** Requests to one remote signer, sealed for it, over its relays. */
export interface SignerChannel {
  /**
   * What the signer answers. Refuses `timeout` when it says nothing for a minute (five once it sent the person to a
   * page), `denied` with its own words, `malformed` for an answer that is none, `bounds` for a request too long.
   */
  call(method: SignerMethod, params: readonly string[]): Promise<string>
  close(): void
}

interface Waiting {
  readonly method: SignerMethod
  readonly event: string
  readonly pages: Set<string>
  timer: Timer
  readonly settle: (outcome: string | Refusal) => void
}

interface State {
  readonly options: ChannelOptions
  readonly key: Uint8Array
  readonly publicKey: string
  readonly waiting: Map<string, Waiting>
  /** The last thing that went wrong on the way. */
  trouble: string | null
}

/** Opens a channel; nothing is dialled before the first call. */
export function openSignerChannel(options: ChannelOptions): SignerChannel {
  const { bunker, client, clock, dial, random } = options
  const signer = createSigner(client)
  const state: State = {
    options,
    key: conversationKey(client, bunker.remote),
    publicKey: signer.publicKey,
    waiting: new Map(),
    trouble: null,
  }
  const legs = openLegs({
    relays: bunker.relays,
    signer,
    clock,
    dial,
    filter: {
      kinds: [signerKind],
      authors: [bunker.remote],
      '#p': [signer.publicKey],
      limit: signerStoredMax,
    },
    event: (event, stored) => hear(state, event, stored),
    trouble(words) {
      state.trouble = words
    },
  })
  return {
    call: async (method, params) => {
      const id = randomId(random)
      const text = signerRequest(id, method, params)
      const event = signer.sign({
        kind: signerKind,
        created_at: nowSeconds(clock),
        tags: [['p', bunker.remote]],
        content: encrypt(text, state.key, random.bytes(32)),
      })
      return ask(state, legs, { id, method, event })
    },
    close() {
      for (const waiting of [...state.waiting.values()]) {
        waiting.settle(new Refusal('interrupted', `the remote signer was still asked to ${waiting.method}`))
      }
      legs.close()
    },
  }
}

interface Asked {
  readonly id: string
  readonly method: SignerMethod
  readonly event: NostrEvent
}

function ask(state: State, legs: Legs, { id, method, event }: Asked): Promise<string> {
  return new Promise((resolve, reject) => {
    state.waiting.set(id, {
      method,
      event: event.id,
      pages: new Set(),
      timer: patience(state, id, signerWaitMs),
      settle(outcome) {
        state.waiting.get(id)?.timer.cancel()
        state.waiting.delete(id)
        legs.forget(event.id)
        if (outcome instanceof Refusal) reject(outcome)
        else resolve(outcome)
      },
    })
    legs.publish(event)
  })
}

function patience(state: State, id: string, ms: number): Timer {
  return state.options.clock.after(ms, () => {
    const waiting = state.waiting.get(id)
    const why = state.trouble === null ? '' : `; ${signerWords(state.trouble, state.options.bunker.secret)}`
    waiting?.settle(
      new Refusal('timeout', `the remote signer did not answer ${waiting.method} in ${ms / 1000} s${why}`, {
        field: signerField,
        hint: 'open the signer, see that it is online, and allow what it asks',
      }),
    )
  })
}

function hear(state: State, event: NostrEvent, stored: boolean): void {
  const { bunker } = state.options
  // A relay may send anything: only what the signer signed, and addressed to this client, is looked at.
  const isOurs = event.tags.some(([name, value]) => name === 'p' && value === state.publicKey)
  if (event.kind !== signerKind || event.pubkey !== bunker.remote || !isOurs || !verifyEvent(event)) return
  try {
    const plaintext = decryptToBytes(event.content, state.key, { contentBytesMax: signerContentBytesMax })
    answered(state, readSignerAnswer(plaintext))
  } catch (error) {
    if (!isRefusal(error)) throw error
    // What is stored was said to an earlier request.
    if (stored) return
    for (const waiting of [...state.waiting.values()]) waiting.settle(unreadable(waiting))
  }
}

function answered(state: State, answer: SignerAnswer): void {
  const waiting = state.waiting.get(answer.id)
  if (waiting === undefined) return
  switch (answer.says) {
    case 'result':
      waiting.settle(answer.result)
      break
    case 'error': {
      const words = signerWords(answer.words, state.options.bunker.secret)
      const message = `the remote signer refused ${waiting.method}: ${words}`
      waiting.settle(new Refusal('denied', message, { field: signerField }))
      break
    }
    case 'nothing':
      waiting.settle(unreadable(waiting))
      break
    case 'look':
      sendToPage(state, answer, waiting)
  }
}

/** The signer wants a person to look at a page before it goes on. */
function sendToPage(state: State, { id, url }: { id: string; url: string }, waiting: Waiting): void {
  if (waiting.pages.has(url)) return
  if (!isPage(url, state.options.bunker.secret) || waiting.pages.size >= signerPagesMax) {
    waiting.settle(unreadable(waiting))
    return
  }
  waiting.pages.add(url)
  waiting.timer.cancel()
  waiting.timer = patience(state, id, signerPersonMs)
  state.options.tell(`the remote signer asks you to open ${url}`)
}

/** Printable ASCII, for a browser, and nothing that would show the secret. */
function isPage(url: string, secret: string | null): boolean {
  if (url.length > signerPageCharsMax || !/^https?:\/\/[!-~]+$/.test(url) || !URL.canParse(url)) return false
  return secret === null || !url.includes(secret)
}

function unreadable({ method }: Waiting): Refusal {
  return new Refusal('malformed', `the remote signer's answer to ${method} cannot be read`, {
    field: signerField,
  })
}
