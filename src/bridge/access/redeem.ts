import { clockSkewSeconds, repliesPerInvitationMax } from '../../limits.ts'
import type { WireCode } from '../../protocol/refusal.ts'
import { firstLacking } from '../../protocol/rights.ts'
import { currentInLine, grantState } from './grants.ts'
import { capabilityDigest } from './invitations.ts'
import type { AccessRecord, GrantEntry, InvitationEntry, RedemptionReply } from './record.ts'

/** What a redemption brings. */
export interface Redemption {
  readonly signer: string
  readonly invitation: string
  readonly capability: string
  readonly relay: string
  readonly issued_at: number
  /** The id of the event that carried it. */
  readonly request_event: string
}

/** What becomes of a redemption. `silent` earns nothing at all. */
export type RedemptionDecision =
  | { readonly kind: 'silent'; readonly reason: 'unknown_capability' | 'invitation_replies' }
  | { readonly kind: 'refuse'; readonly code: WireCode }
  | { readonly kind: 'kept'; readonly reply: RedemptionReply }
  | { readonly kind: 'again'; readonly invitation: InvitationEntry; readonly entry: GrantEntry }
  | { readonly kind: 'grant'; readonly invitation: InvitationEntry }

/**
 * Decides a redemption. Pure. A wrong or unknown capability is `silent`; a device that redeemed before gets the
 * grant it has.
 * @param now host time, Unix seconds
 * @see spec/wire.md §7
 */
export function decideRedemption(record: AccessRecord, asked: Redemption, now: number): RedemptionDecision {
  const invitation = record.invitations.find((entry) => entry.invitation === asked.invitation)
  if (invitation?.capability_digest !== capabilityDigest(asked.capability)) {
    return { kind: 'silent', reason: 'unknown_capability' }
  }
  const kept = invitation.replies.find((reply) => reply.request_event === asked.request_event)
  if (kept !== undefined) return { kind: 'kept', reply: kept }
  const code = refusalOf(record, invitation, asked, now)
  if (code !== null) return { kind: 'refuse', code }
  if (invitation.answers >= repliesPerInvitationMax) return { kind: 'silent', reason: 'invitation_replies' }
  const { redeemed } = invitation
  if (redeemed === null) return { kind: 'grant', invitation }
  const entry = record.grants.find((candidate) => candidate.grant.grant === redeemed.grant)
  return entry === undefined ? { kind: 'refuse', code: 'revoked' } : { kind: 'again', invitation, entry }
}

/** The record after `reply` was signed for `invitation`, with the grant (and its consumption) if it made one. */
export function withRedemptionReply(
  record: AccessRecord,
  invitation: InvitationEntry,
  reply: RedemptionReply,
  redeemed: InvitationEntry['redeemed'],
): AccessRecord {
  return {
    ...record,
    invitations: record.invitations.map((entry) =>
      entry.invitation === invitation.invitation
        ? { ...entry, redeemed, answers: entry.answers + 1, replies: [...entry.replies, reply] }
        : entry,
    ),
  }
}

function refusalOf(
  record: AccessRecord,
  invitation: InvitationEntry,
  asked: Redemption,
  now: number,
): WireCode | null {
  if (asked.signer === record.owner || asked.signer === record.host) return 'forbidden'
  if (invitation.cancelled_at !== null) return 'revoked'
  if (invitation.redeemed?.device === asked.signer)
    return retryRefusal(record, invitation.redeemed.grant, now)
  if (invitation.expires_at <= now) return 'expired'
  if (asked.issued_at < invitation.issued_at - clockSkewSeconds) return 'forbidden'
  if (asked.issued_at > invitation.expires_at || asked.relay !== invitation.relay) return 'forbidden'
  if (!issuerStands(record, invitation, now)) return 'revoked'
  return invitation.redeemed === null ? null : 'forbidden'
}

function retryRefusal(record: AccessRecord, grant: string, now: number): WireCode | null {
  const entry = record.grants.find((candidate) => candidate.grant.grant === grant)
  if (entry === undefined) return 'revoked'
  const state = grantState(entry, now)
  return state === 'active' ? null : state
}

/** A device's invitation needs its grant, or a renewal of it, that still may give what it promised. */
function issuerStands(record: AccessRecord, { issuer, rights }: InvitationEntry, now: number): boolean {
  if (issuer.kind !== 'device') return true
  return currentInLine(record, issuer.grant, now).some(
    ({ grant }) =>
      grant.device === issuer.device &&
      grant.rights.includes('access_admin') &&
      firstLacking(rights, grant.rights) === null,
  )
}
