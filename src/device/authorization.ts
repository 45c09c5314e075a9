import { clockSkewSeconds } from '../limits.ts'
import type { Access } from '../protocol/bodies/access.ts'
import type { Grant } from '../protocol/bodies/grant.ts'
import { parseBody } from '../protocol/body.ts'
import { openVerified } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import type { Invitation } from '../protocol/invitation.ts'
import { jcs } from '../protocol/jcs.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { skewWords } from './clock-words.ts'
import type { Identity } from './identity.ts'

export interface AuthorizationTerms {
  readonly identity: Identity
  readonly host: string
  readonly relay: string
  /** Device time, Unix seconds. */
  readonly now: number
  readonly policy: RelayPolicy
}

/**
 * Opens the host-signed event that gives this device its grant. Refuses `malformed` unless the host signed it to
 * this device, in the grant's mailbox, for this host and relay; `expired` when its time is over already, and `stale`
 * with words about the clocks when it is dated too far ahead.
 * @see spec/wire.md §5
 */
export function readAuthorization(event: NostrEvent, terms: AuthorizationTerms): Access {
  const { identity, host, relay, now, policy } = terms
  const self = identity.signer.publicKey
  if (event.pubkey !== host) throw foreign('signer')
  const opened = openVerified(event, self, (peer) => identity.keys.get(peer))
  if (opened.recipient !== self) throw foreign('recipient')
  const grant = parseBody('grant', opened.body, policy)
  if (opened.mailbox !== grant.grant) throw foreign('mailbox')
  if (grant.host !== host) throw foreign('host')
  if (grant.device !== self) throw foreign('device')
  if (grant.relay !== relay) throw foreign('relay')
  if (grant.issued_at > now + clockSkewSeconds) throw new Refusal('stale', skewWords(grant.issued_at - now))
  if (grant.expires_at <= now - clockSkewSeconds) throw new Refusal('expired', 'the grant has expired')
  return { v: 'openagents.host-access.v1', requires: [], grant, authorization: event }
}

/** Whether a grant is the one that redeeming `invitation` earns. */
export function grantsInvitation(grant: Grant, invitation: Invitation): boolean {
  return grant.origin.kind === 'invitation' && grant.origin.id === invitation.invitation
}

/**
 * Whether a device takes `next` in place of `held`: the same host, owner, device, relay, rights, epoch and origin
 * under a new ID, issued no earlier, and good for longer.
 * @see spec/wire.md §7
 */
export function renews(next: Grant, held: Grant): boolean {
  const terms = ({ host, owner, device, relay, rights, epoch, origin }: Grant): string =>
    jcs({ host, owner, device, relay, rights, epoch, origin })
  return (
    terms(next) === terms(held) &&
    next.grant !== held.grant &&
    next.issued_at >= held.issued_at &&
    next.expires_at > held.expires_at
  )
}

function foreign(field: string): Refusal {
  return new Refusal('malformed', `not a grant for this device: ${field}`, { field })
}
