import { clockSkewSeconds, requestSecondsMax } from '../limits.ts'
import type { Grant } from '../protocol/bodies/grant.ts'
import type { HostReply, Result } from '../protocol/bodies/reply.ts'
import { sealEnvelope } from '../protocol/envelope.ts'
import { checkEventBytes, type NostrEvent } from '../protocol/event.ts'
import type { Signer } from '../protocol/signer.ts'
import type { Random } from '../seams/random.ts'

/** What the host signs and seals with. */
export interface Sealer {
  readonly signer: Signer
  readonly random: Random
  /** The conversation key with a peer. */
  keyOf(peer: string): Uint8Array
}

/** Which request an answer answers. */
export interface Answered {
  readonly request: string
  readonly request_event: string
  readonly signer: string
  /** Unix seconds. */
  readonly expires_at: number
}

/**
 * Signs an answer to a request. Refuses `bounds` when the final event is longer than its relay takes.
 * @param now host time, Unix seconds
 * @param bytesMax of the event's JSON
 * @see spec/wire.md §5
 */
export function sealReply(
  sealer: Sealer,
  answered: Answered,
  result: Result,
  now: number,
  bytesMax: number,
): NostrEvent {
  const { request, request_event, signer, expires_at } = answered
  const body: HostReply = {
    v: 'openagents.host-reply.v1',
    requires: [],
    request,
    request_event,
    host: sealer.signer.publicKey,
    issued_at: Math.max(now, expires_at - requestSecondsMax - clockSkewSeconds),
    expires_at,
    result,
  }
  const event = seal(sealer, signer, request, body, body.issued_at, expires_at)
  checkEventBytes(event, bytesMax)
  return event
}

/** Signs a grant for its device: the event that the device keeps as its authorization. */
export function sealGrant(sealer: Sealer, grant: Grant): NostrEvent {
  return seal(sealer, grant.device, grant.grant, grant, grant.issued_at, grant.expires_at)
}

/** Seals any body of the host's for one peer. Times are Unix seconds. */
export function seal(
  sealer: Sealer,
  recipient: string,
  mailbox: string,
  body: object,
  issuedAt: number,
  retainUntil: number,
): NostrEvent {
  return sealEnvelope({
    signer: sealer.signer,
    recipient,
    mailbox,
    body,
    conversationKey: sealer.keyOf(recipient),
    issuedAt,
    retainUntil,
    random: sealer.random,
  })
}
