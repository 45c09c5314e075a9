import type { HostReply, Result } from '../../src/protocol/bodies/reply.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified, sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { connectRelay } from '../../src/protocol/relay-connection.ts'
import type { Clock } from '../../src/seams/clock.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import type { TestKey } from './keys.ts'

/** What a peer puts in a request; anything may be wrong. */
export interface RequestChanges {
  readonly op?: unknown
  readonly request?: string
  readonly host?: string
  readonly grant?: string | null
  readonly epoch?: number | null
  readonly relay?: string
  readonly issued_at?: number
  readonly expires_at?: number
  readonly more?: object
}

export interface SentRequest {
  readonly request: string
  readonly event: NostrEvent
}

/** A device of somebody else's making: it says what a test tells it to, and checks what it hears. */
export interface WirePeer {
  readonly key: TestKey
  /** The grant that requests name from now on. */
  grant: { grant: string; epoch: number } | null
  /** Signs a request without sending it. */
  sign(op: Operation, changes?: RequestChanges, mailbox?: string): SentRequest
  send(event: NostrEvent): void
  /** Sends a request and gives the verified result of its reply. */
  ask(op: Operation, changes?: RequestChanges): Promise<Result>
  /** The `index`th reply to a request, from 0, as its exact event. */
  replyTo(request: string, index?: number): Promise<NostrEvent>
  open(event: NostrEvent): HostReply
  /** How many replies to a request have arrived. */
  heard(request: string): number
  /** Every event that arrived. */
  readonly events: readonly NostrEvent[]
  /** Resolves when an event arrives that fits. */
  until(fits: (event: NostrEvent) => boolean): Promise<NostrEvent>
  close(): void
}

export async function wirePeer(options: {
  key: TestKey
  host: string
  relay: string
  clock: Clock
  /** The relay that requests name, if it is not the one that is dialled. */
  named?: string
}): Promise<WirePeer> {
  const { key, host, relay, clock } = options
  const events: NostrEvent[] = []
  const waiting = new Set<() => void>()
  let live: () => void = () => {}
  const isLive = new Promise<void>((resolve) => {
    live = resolve
  })
  const connection = connectRelay(
    {
      url: relay,
      signer: key.signer,
      clock,
      dial: dialRelay,
      subscription: 'peer',
      filters: () => [{ kinds: [3188], '#p': [key.publicKey] }],
    },
    {
      event(event) {
        // Some relays hand on what was not asked for, our own requests included.
        if (!event.tags.some(([name, to]) => name === 'p' && to === key.publicKey)) return
        events.push(event)
        for (const wake of [...waiting]) wake()
      },
      live,
      published() {},
      ended() {},
    },
  )
  await isLive

  const until = (fits: (event: NostrEvent) => boolean): Promise<NostrEvent> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const event = events.find(fits)
        if (event === undefined) return
        clearTimeout(patience)
        waiting.delete(look)
        resolve(event)
      }
      const patience = setTimeout(() => {
        waiting.delete(look)
        reject(new Error('no such event arrived'))
      }, 5_000)
      waiting.add(look)
      look()
    })

  const inMailbox = (request: string) =>
    events.filter(
      (event) => event.pubkey === host && event.tags.some((tag) => tag[0] === 'h' && tag[1] === request),
    )

  const peer: WirePeer = {
    key,
    grant: null,
    events,
    until,
    sign(op, changes = {}, mailbox) {
      const now = nowSeconds(clock)
      const { more, ...fields } = changes
      const body = {
        v: 'openagents.host-request.v1',
        requires: [],
        request: randomId(systemRandom),
        host,
        grant: peer.grant?.grant ?? null,
        epoch: peer.grant?.epoch ?? null,
        relay: options.named ?? relay,
        issued_at: now,
        expires_at: (changes.issued_at ?? now) + 60,
        op,
        ...fields,
        ...more,
      }
      const event = sealEnvelope({
        signer: key.signer,
        recipient: host,
        mailbox: mailbox ?? body.request,
        body,
        conversationKey: key.with(host),
        issuedAt: body.issued_at,
        retainUntil: body.expires_at,
        random: systemRandom,
      })
      return { request: body.request, event }
    },
    send: (event) => connection.publish(event),
    async ask(op, changes) {
      const { request, event } = peer.sign(op, changes)
      connection.publish(event)
      const answers = (one: NostrEvent) =>
        inMailbox(request).includes(one) && answersTo(peer.open(one), event)
      return peer.open(await until(answers)).result
    },
    async replyTo(request, index = 0) {
      await until(() => inMailbox(request).length > index)
      const event = inMailbox(request)[index]
      if (event === undefined) throw new Error('no reply')
      return event
    },
    open(event) {
      const opened = openVerified(event, key.publicKey, key.with)
      if (opened.author !== host) throw new Error('the reply is not signed by the host')
      return parseBody('reply', opened.body, 'loopback_test')
    },
    heard: (request) => inMailbox(request).length,
    close: () => connection.close(),
  }
  return peer
}

function answersTo(reply: HostReply, event: NostrEvent): boolean {
  return reply.request_event === event.id
}
