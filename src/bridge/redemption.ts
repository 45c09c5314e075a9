import type { NostrEvent } from '../protocol/event.ts'
import type { WireCode } from '../protocol/refusal.ts'
import type { Random } from '../seams/random.ts'
import type { AccessBook } from './access/book.ts'
import { addGrant } from './access/grants.ts'
import type { AccessRecord, GrantEntry, InvitationEntry } from './access/record.ts'
import { decideRedemption, withRedemptionReply } from './access/redeem.ts'
import type { Asked } from './admit.ts'
import type { Counted } from './counters.ts'
import { issuerKey, makeGrant } from './make-grant.ts'
import { type Answered, type Sealer, sealReply } from './seal.ts'

/** How a redemption came out. */
export type Redeemed =
  | { readonly kind: 'reply'; readonly reply: NostrEvent }
  | { readonly kind: 'refuse'; readonly code: WireCode }
  | { readonly kind: 'silent'; readonly reason: Counted }

/**
 * Redeems an invitation under the book's writer lock: its consumption, the grant and the exact signed reply are one
 * save. A device that redeemed before gets the grant it has.
 *
 * Throws `bounds` when the book has no room for one more grant.
 * @see spec/wire.md §7
 */
export async function redeem(
  deps: { book: AccessBook; sealer: Sealer; random: Random; eventBytesMax(relay: string): number },
  asked: Asked,
  op: { invitation: string; capability: string },
): Promise<Redeemed> {
  const { request, relay, issued_at, expires_at } = asked.head
  const { signer, event: request_event } = asked
  const answered: Answered = { request, request_event, signer, expires_at }
  return await deps.book.change<Redeemed>((record, now) => {
    if (expires_at <= now) return { record, value: { kind: 'silent', reason: 'expired_meanwhile' } }
    const decision = decideRedemption(record, { ...op, signer, relay, issued_at, request_event }, now)
    if (decision.kind === 'silent' || decision.kind === 'refuse') return { record, value: decision }
    if (decision.kind === 'kept') return { record, value: { kind: 'reply', reply: decision.reply.reply } }
    const { invitation } = decision
    const entry = decision.kind === 'again' ? decision.entry : newGrant(deps, record, invitation, signer, now)
    const before = decision.kind === 'again' ? record : addGrant(record, entry, now)
    const result = { status: 'ok', outcome: { kind: 'granted', authorization: entry.authorization } } as const
    const reply = sealReply(deps.sealer, answered, result, now, deps.eventBytesMax(relay))
    const redeemed = invitation.redeemed ?? { device: signer, grant: entry.grant.grant, at: now }
    const after = withRedemptionReply(before, invitation, { ...answered, reply }, redeemed)
    return { record: after, value: { kind: 'reply', reply } }
  })
}

function newGrant(
  deps: { sealer: Sealer; random: Random },
  record: AccessRecord,
  invitation: InvitationEntry,
  device: string,
  now: number,
): GrantEntry {
  const { relay, rights, grant_expires_at: expires_at } = invitation
  const issuer = issuerKey(record, invitation.issuer)
  const origin = { kind: 'invitation' as const, id: invitation.invitation, issuer }
  const made = makeGrant(deps, record, { device, relay, rights, origin, expires_at }, now)
  return { ...made, last_seen: now }
}
