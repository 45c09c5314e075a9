import * as nip44 from 'nostr-tools/nip44'
import { type Event, finalizeEvent, getPublicKey, verifyEvent } from 'nostr-tools/pure'
import { WebSocket } from 'ws'

/** One request as a remote signer got it. */
export interface BunkerRequest {
  readonly id: string
  readonly method: string
  readonly params: readonly string[]
  /** Whom the answer is for. */
  readonly client: string
}

/** What it says: the fields of an answer (its own `id` may be replaced), text that is no answer, or nothing at all. */
export type BunkerAnswer = { id?: string; result?: unknown; error?: unknown } | string | null

/** A remote signer (NIP-46) of our own making, on nostr-tools' primitives and none of the product's. */
export interface Bunker {
  /** Its `bunker://` address, secret included. */
  readonly url: string
  readonly secret: string
  /** Its own key, by which it is reached. */
  readonly remote: string
  /** The key that it signs for. */
  readonly user: string
  readonly requests: BunkerRequest[]
  /** What answers a request; replaced by tests. */
  answer: (request: BunkerRequest) => BunkerAnswer | Promise<BunkerAnswer>
  /** What a content signer answers. */
  usual(request: BunkerRequest): BunkerAnswer
  /** How often each method was asked for. */
  asked(method: string): number
  /** Says something to a client that nobody asked for. */
  say(client: string, answer: BunkerAnswer): void
  /** Lets nobody in any more who was let in before. */
  forgetClients(): void
  /** Signs for the user, whatever it is. */
  signAsUser(template: Parameters<typeof finalizeEvent>[0]): Event
  close(): void
}

const kind = 24_133

export async function startBunker(
  relay: string,
  options: { remote?: number; user?: number; secret?: string } = {},
): Promise<Bunker> {
  const own = secretKey(options.remote ?? 21)
  const user = secretKey(options.user ?? 12)
  const remote = getPublicKey(own)
  const secret = options.secret ?? 'the-drawbridge-password'
  const clients = new Set<string>()
  const socket = new WebSocket(relay)
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('error', reject)
  })
  const send = (...frame: unknown[]): void => socket.send(JSON.stringify(frame))

  const bunker: Bunker = {
    url: `bunker://${remote}?relay=${encodeURIComponent(relay)}&secret=${secret}`,
    secret,
    remote,
    user: getPublicKey(user),
    requests: [],
    answer: (request) => bunker.usual(request),
    usual(request) {
      const { method, params, client } = request
      if (method === 'connect') {
        if (params[1] !== secret) return { error: 'this secret lets nobody in' }
        clients.add(client)
        return { result: 'ack' }
      }
      if (!clients.has(client)) return { error: 'not connected' }
      return { result: atWork(user, method, params) }
    },
    asked: (method) => bunker.requests.filter((request) => request.method === method).length,
    forgetClients: () => clients.clear(),
    signAsUser: (template) => finalizeEvent(template, user),
    say(client, answer) {
      if (answer === null) return
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
      const content = nip44.encrypt(text, nip44.getConversationKey(own, client))
      const created_at = Math.floor(Date.now() / 1000)
      send('EVENT', finalizeEvent({ kind, created_at, tags: [['p', client]], content }, own))
    },
    close: () => socket.close(),
  }

  const subscribed = new Promise<void>((resolve) => {
    socket.on('message', async (data) => {
      const [type, , event] = JSON.parse(data.toString())
      if (type === 'EOSE') resolve()
      if (type !== 'EVENT' || event.kind !== kind || !verifyEvent(event)) return
      if (!event.tags.some((tag: string[]) => tag[0] === 'p' && tag[1] === remote)) return
      const key = nip44.getConversationKey(own, event.pubkey)
      const asked = { ...JSON.parse(nip44.decrypt(event.content, key)), client: event.pubkey }
      bunker.requests.push(asked)
      const answer = await bunker.answer(asked)
      bunker.say(
        asked.client,
        typeof answer === 'object' && answer !== null ? { id: asked.id, ...answer } : answer,
      )
    })
  })
  send('REQ', 'bunker', { kinds: [kind], '#p': [remote], limit: 0 })
  await subscribed
  return bunker
}

function atWork(user: Uint8Array, method: string, [first = '', second = '']: readonly string[]): string {
  switch (method) {
    case 'get_public_key':
      return getPublicKey(user)
    case 'sign_event':
      return JSON.stringify(finalizeEvent(JSON.parse(first), user))
    case 'nip44_encrypt':
      return nip44.encrypt(second, nip44.getConversationKey(user, first))
    case 'nip44_decrypt':
      return nip44.decrypt(second, nip44.getConversationKey(user, first))
    default:
      throw new Error(`nobody asks a bunker for ${method}`)
  }
}

function secretKey(scalar: number): Uint8Array {
  const key = new Uint8Array(32)
  key[31] = scalar
  return key
}
