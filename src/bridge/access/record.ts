import * as z from 'zod'
import {
  enrollmentAttemptsMax,
  enrollmentsMax,
  epochsMax,
  grantsMax,
  invitationsMax,
  renewedKeptMax,
  repliesPerInvitationMax,
} from '../../limits.ts'
import { enrollmentRequestSchema } from '../../protocol/bodies/enrollment-request.ts'
import { grantSchema } from '../../protocol/bodies/grant.ts'
import { eventSchema } from '../../protocol/event.ts'
import { digestText, hexId, publicKey, unixSeconds } from '../../protocol/keys.ts'
import { rightsSchema } from '../../protocol/rights.ts'

/** A grant that this host signed, and what became of it. */
const grantEntry = z.strictObject({
  grant: grantSchema,
  /** The exact signed event that the device holds. */
  authorization: eventSchema,
  revoked_at: unixSeconds.nullable(),
  last_seen: unixSeconds.nullable(),
  /** For a renewal, the grants before it in its line, the newest first; empty for a grant that was asked for. */
  renews: z.array(hexId).max(renewedKeptMax).default([]),
})
export type GrantEntry = z.infer<typeof grantEntry>

const issuer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('host') }),
  z.strictObject({ kind: z.literal('owner') }),
  z.strictObject({ kind: z.literal('device'), device: publicKey, grant: hexId }),
])
/** Who made an invitation: the local operator, the owner over a relay, or a device under a grant of its own. */
export type Issuer = z.infer<typeof issuer>

/** A signed answer to a redemption, saved together with the grant that it carries. */
const redemptionReply = z.strictObject({
  request: hexId,
  request_event: hexId,
  signer: publicKey,
  expires_at: unixSeconds,
  reply: eventSchema,
})
export type RedemptionReply = z.infer<typeof redemptionReply>

const invitationEntry = z.strictObject({
  invitation: hexId,
  capability_digest: digestText,
  relay: z.string(),
  issued_at: unixSeconds,
  expires_at: unixSeconds,
  rights: rightsSchema,
  grant_expires_at: unixSeconds,
  issuer,
  cancelled_at: unixSeconds.nullable(),
  redeemed: z.strictObject({ device: publicKey, grant: hexId, at: unixSeconds }).nullable(),
  /** How many answers were ever signed for it; bounded, unlike the retries of a device. */
  answers: z.int().min(0).max(repliesPerInvitationMax),
  replies: z.array(redemptionReply).max(repliesPerInvitationMax),
})
export type InvitationEntry = z.infer<typeof invitationEntry>

const enrollmentEntry = z.strictObject({
  /** The body whose sealed copies went to those who may approve. */
  request: enrollmentRequestSchema,
  /** What an approval or a denial names. */
  digest: digestText,
  /** Of the code that is shown at the host; the code itself is nowhere. */
  code_digest: digestText,
  /** How many wrong codes came. */
  attempts: z.int().min(0).max(enrollmentAttemptsMax),
  denied_at: unixSeconds.nullable(),
  /** When the last wrong code that is allowed came. */
  closed_at: unixSeconds.nullable(),
  approved: z.strictObject({ device: publicKey, grant: hexId, at: unixSeconds }).nullable(),
})
export type EnrollmentEntry = z.infer<typeof enrollmentEntry>

/** The whole access book as it lies on disk. Values are never changed in place: each rule returns a new record. */
export const accessRecord = z.strictObject({
  schema: z.literal('drawbridge.access.v1'),
  host: publicKey,
  owner: publicKey,
  grants: z.array(grantEntry).max(grantsMax),
  invitations: z.array(invitationEntry).max(invitationsMax),
  /** A book of an earlier version has none. */
  enrollments: z.array(enrollmentEntry).max(enrollmentsMax).default([]),
  epochs: z.array(z.strictObject({ device: publicKey, epoch: z.int().min(0) })).max(epochsMax),
})
export type AccessRecord = z.infer<typeof accessRecord>

/** The book of a host that has met nobody yet. */
export function emptyAccessRecord(host: string, owner: string): AccessRecord {
  const empty = { grants: [], invitations: [], enrollments: [], epochs: [] }
  return { schema: 'drawbridge.access.v1', host, owner, ...empty }
}
