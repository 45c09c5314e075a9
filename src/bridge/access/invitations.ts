import { deadRecordSeconds, grantSecondsMax, invitationSeconds, invitationsMax } from '../../limits.ts'
import { sha256Digest } from '../../protocol/digest.ts'
import { fromHex } from '../../protocol/hex.ts'
import { encodeInvitation } from '../../protocol/invitation.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Right } from '../../protocol/rights.ts'
import { type Random, randomId } from '../../seams/random.ts'
import { prune } from './grants.ts'
import { holdsRight, type Principal } from './principal.ts'
import type { AccessRecord, InvitationEntry, Issuer } from './record.ts'

/** What the inviter chooses. */
export interface InvitationTerms {
  readonly rights: Right[]
  /** Unix seconds. */
  readonly grant_expires_at: number
  readonly relay: string
}

/** A stored invitation and the only copy of the string that holds its capability. */
export interface NewInvitation {
  readonly record: AccessRecord
  readonly invitation: string
  readonly code: string
  readonly expires_at: number
}

/**
 * Makes an invitation that lives 300 s. The record holds the digest of its capability, never the capability.
 * @param invitation its ID, when the request that asks for it determines one
 *
 * Refuses `missing_right` (naming the first) when a device invites to more than it holds, `forbidden` when the
 * grant's expiry is not after the invitation's, over 30 days, or past the inviting device's own, and `bounds` at 64
 * living invitations.
 * @see spec/wire.md §4, §7
 */
export function createInvitation(
  given: AccessRecord,
  by: Principal,
  terms: InvitationTerms,
  now: number,
  random: Random,
  invitation: string = randomId(random),
): NewInvitation {
  const expires_at = now + invitationSeconds
  checkTerms(by, terms, now, expires_at)
  const record = withoutUntold(prune(given, now), invitation)
  if (record.invitations.length >= invitationsMax) {
    throw new Refusal('bounds', `${invitationsMax} invitations are kept already`)
  }
  const capability = randomId(random)
  const entry: InvitationEntry = {
    invitation,
    capability_digest: capabilityDigest(capability),
    relay: terms.relay,
    issued_at: now,
    expires_at,
    rights: terms.rights,
    grant_expires_at: terms.grant_expires_at,
    issuer: issuerOf(by),
    cancelled_at: null,
    redeemed: null,
    answers: 0,
    replies: [],
  }
  const { host } = record
  const code = encodeInvitation({
    host,
    invitation,
    capability,
    issued_at: now,
    expires_at,
    relay: terms.relay,
  })
  return {
    record: { ...record, invitations: [...record.invitations, entry] },
    invitation,
    code,
    expires_at,
  }
}

/**
 * Cancels an invitation; again is no change. Refuses `forbidden` for an unknown one and `conflict` for one that was
 * redeemed (its grant is ended by revoking the device).
 */
export function cancelInvitation(record: AccessRecord, invitation: string, now: number): AccessRecord {
  const entry = record.invitations.find((candidate) => candidate.invitation === invitation)
  if (entry === undefined) throw new Refusal('forbidden', 'no such invitation')
  if (entry.redeemed !== null) throw new Refusal('conflict', 'this invitation was redeemed')
  if (entry.cancelled_at !== null) return record
  const cancelled = { ...entry, cancelled_at: now }
  return {
    ...record,
    invitations: record.invitations.map((candidate) => (candidate === entry ? cancelled : candidate)),
  }
}

/** What the book keeps of a capability (64 hex). */
export function capabilityDigest(capability: string): string {
  return sha256Digest(fromHex(capability))
}

/**
 * Whether unknown keys are worth listening to: some invitation could still be redeemed, or a device with its code
 * should learn that it was cancelled, taken, or came too late.
 */
export function invitationOpen(record: AccessRecord, now: number): boolean {
  return record.invitations.some((entry) => entry.expires_at + deadRecordSeconds > now)
}

/**
 * An operation that is acted on again after an uncertain save makes the same invitation: nobody was ever told the
 * capability of the first, so it goes. One that was redeemed was told.
 */
function withoutUntold(record: AccessRecord, invitation: string): AccessRecord {
  const earlier = record.invitations.find((entry) => entry.invitation === invitation)
  if (earlier === undefined) return record
  if (earlier.redeemed !== null) throw new Refusal('conflict', 'this invitation was redeemed')
  return { ...record, invitations: record.invitations.filter((entry) => entry !== earlier) }
}

function checkTerms(by: Principal, terms: InvitationTerms, now: number, expires_at: number): void {
  const lacking = terms.rights.find((right) => !holdsRight(by, right))
  if (lacking !== undefined) {
    throw new Refusal('missing_right', `the inviter does not hold ${lacking}`, { missing: lacking })
  }
  if (terms.grant_expires_at <= expires_at) {
    throw new Refusal('forbidden', 'a grant must outlive its invitation', { field: 'grant_expires_at' })
  }
  if (terms.grant_expires_at > now + grantSecondsMax) {
    throw new Refusal('forbidden', 'a grant lives at most 30 days', { field: 'grant_expires_at' })
  }
  if (by.kind === 'device' && terms.grant_expires_at > by.entry.grant.expires_at) {
    throw new Refusal('forbidden', 'a delegated grant must not outlive its own', {
      field: 'grant_expires_at',
    })
  }
}

function issuerOf(by: Principal): Issuer {
  if (by.kind === 'operator') return { kind: 'host' }
  if (by.kind === 'owner') return { kind: 'owner' }
  return { kind: 'device', device: by.key, grant: by.entry.grant.grant }
}
