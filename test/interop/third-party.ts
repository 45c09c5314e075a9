import { sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { connectRelay } from '../../src/protocol/relay-connection.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import type { TestKey } from '../support/keys.ts'

export interface Impostor {
  /** How many of its answers the relay took. */
  accepted(): number
  close(): void
}

/** Answers each request of a device at once, as the host would but for the key, over the same relay. */
export function impostor(options: { relay: string; host: string; device: string; key: TestKey }): Impostor {
  const { relay, host, device, key } = options
  let accepted = 0
  const answer = (event: NostrEvent): void => {
    const request = event.tags.find(([name]) => name === 'h')?.[1] ?? ''
    if (event.pubkey !== device) return
    const body = {
      v: 'openagents.host-reply.v1',
      requires: [],
      request,
      request_event: event.id,
      host: host,
      issued_at: event.created_at,
      expires_at: event.created_at + 60,
      result: { status: 'refused', code: 'revoked', missing: null },
    }
    const times = { issuedAt: body.issued_at, retainUntil: body.expires_at }
    const conversationKey = key.with(device)
    const { signer } = key
    connection.publish(
      sealEnvelope({
        signer,
        recipient: device,
        mailbox: request,
        body,
        conversationKey,
        random: systemRandom,
        ...times,
      }),
    )
  }
  const connection = connectRelay(
    {
      url: relay,
      signer: key.signer,
      clock: systemClock,
      dial: dialRelay,
      subscription: 'all',
      filters: () => [{ kinds: [3188] }],
    },
    {
      event: answer,
      live() {},
      published(_id, { outcome }) {
        if (outcome === 'accepted') accepted += 1
      },
      ended() {},
    },
  )
  return { accepted: () => accepted, close: () => connection.close() }
}

/** The event under its own ID with a signature that does not hold. */
export function forged(event: NostrEvent): NostrEvent {
  return { ...event, sig: event.sig.startsWith('0') ? `1${event.sig.slice(1)}` : `0${event.sig.slice(1)}` }
}
