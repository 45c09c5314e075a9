import { eventBytesMax, requestSecondsMax } from '../limits.ts'
import type { Grant } from '../protocol/bodies/grant.ts'
import type { HostRequest } from '../protocol/bodies/request.ts'
import { parseBody } from '../protocol/body.ts'
import { sealEnvelope, sealedBytes } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import type { Operation } from '../protocol/operations.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import type { Random } from '../seams/random.ts'
import type { Identity } from './identity.ts'
import { checkTexts } from './text-bounds.ts'

/** Whom a request is for, and under which grant. The grant is null for a redemption. */
export interface Addressee {
  readonly host: string
  readonly relay: string
  readonly grant: Pick<Grant, 'grant' | 'epoch'> | null
}

/** A request as it travels. */
export interface SignedRequest {
  readonly body: HostRequest
  readonly event: NostrEvent
}

export interface RequestTerms {
  readonly to: Addressee
  readonly op: Operation
  /** The request's ID, 64 hex. */
  readonly request: string
  /** Device time, Unix seconds: the request lives from here for 60 s. */
  readonly now: number
  readonly policy: RelayPolicy
}

/**
 * Signs a request, dated now: one is never signed before it is sent, since relays and hosts refuse old dates.
 * Refuses as `requestBody` does.
 * @see spec/wire.md §5
 */
export function signRequest(
  terms: RequestTerms & { readonly identity: Identity; readonly random: Random },
): SignedRequest {
  const { identity, to, random } = terms
  const body = requestBody(terms)
  const event = sealEnvelope({
    signer: identity.signer,
    recipient: to.host,
    mailbox: body.request,
    body,
    conversationKey: identity.keys.get(to.host),
    issuedAt: body.issued_at,
    retainUntil: body.expires_at,
    random,
  })
  return { body, event }
}

/**
 * The body of a request. Refuses as `checkTexts` and `parseBody` do, and `bounds`, with the numbers, when the signed event would be
 * larger than every relay and device can take.
 */
export function requestBody({ to, op, request, now, policy }: RequestTerms): HostRequest {
  checkTexts(op)
  const body = parseBody(
    'request',
    {
      v: 'openagents.host-request.v1',
      requires: [],
      request,
      host: to.host,
      grant: to.grant?.grant ?? null,
      epoch: to.grant?.epoch ?? null,
      relay: to.relay,
      issued_at: now,
      expires_at: now + requestSecondsMax,
      op,
    },
    policy,
  )
  const bytes = sealedBytes(body, body.issued_at, body.expires_at)
  if (bytes > eventBytesMax)
    throw new Refusal('bounds', `the signed request of ${bytes} bytes is over ${eventBytesMax}`)
  return body
}
