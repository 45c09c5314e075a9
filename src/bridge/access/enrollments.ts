import { enrollmentAttemptsMax, enrollmentSecondsMax, enrollmentsMax, grantSecondsMax } from '../../limits.ts'
import type { EnrollmentRequest } from '../../protocol/bodies/enrollment-request.ts'
import { enrollmentCodeDigest, enrollmentDigest, newEnrollmentCode } from '../../protocol/enrollment-code.ts'
import { Refusal, type WireCode } from '../../protocol/refusal.ts'
import { firstLacking, type Right } from '../../protocol/rights.ts'
import { type Random, randomId } from '../../seams/random.ts'
import { grantState, prune } from './grants.ts'
import type { Principal } from './principal.ts'
import type { AccessRecord, EnrollmentEntry, GrantEntry } from './record.ts'

/** A stored enrollment and the only copy of its code. */
export interface NewEnrollment {
  readonly record: AccessRecord
  readonly entry: EnrollmentEntry
  readonly code: string
}

/**
 * Makes an enrollment request of this host's that lives 300 s. The record holds the digest of its code, never the code.
 *
 * Refuses `bounds` at 32 living enrollments.
 * @see spec/wire.md §7
 */
export function createEnrollment(
  given: AccessRecord,
  terms: { rights: Right[]; relay: string },
  now: number,
  random: Random,
): NewEnrollment {
  const record = prune(given, now)
  if (record.enrollments.length >= enrollmentsMax) {
    throw new Refusal('bounds', `${enrollmentsMax} enrollments are kept already`)
  }
  const request: EnrollmentRequest = {
    v: 'openagents.host-enrollment-request.v1',
    requires: [],
    enrollment: randomId(random),
    host: record.host,
    owner: record.owner,
    relay: terms.relay,
    rights: terms.rights,
    issued_at: now,
    expires_at: now + enrollmentSecondsMax,
  }
  const code = newEnrollmentCode(random)
  const entry: EnrollmentEntry = {
    request,
    digest: enrollmentDigest(request),
    code_digest: enrollmentCodeDigest(request.enrollment, code),
    attempts: 0,
    denied_at: null,
    closed_at: null,
    approved: null,
  }
  return { record: { ...record, enrollments: [...record.enrollments, entry] }, entry, code }
}

/** Which enrollment an approval or a denial is about, and the relay that it came over. */
export interface NamedEnrollment {
  readonly enrollment: string
  readonly request_digest: string
  readonly relay: string
}

/** What an approver chooses, and the code that was read to it. */
export interface Approval extends NamedEnrollment {
  readonly code: string
  readonly device: string
  readonly rights: Right[]
  /** Unix seconds. */
  readonly grant_expires_at: number
}

/** What becomes of an approval. A refusal may change the record all the same: wrong codes are counted. */
export type ApprovalDecision =
  | {
      readonly kind: 'refuse'
      readonly code: WireCode
      readonly missing: Right | null
      readonly record: AccessRecord
    }
  | { readonly kind: 'again'; readonly entry: GrantEntry }
  | { readonly kind: 'grant'; readonly enrollment: EnrollmentEntry }

/**
 * Decides an approval by a principal that may administer access, in the order of the page. Pure. The device that was
 * approved gets the grant it has, as long as the enrollment is kept.
 * @param now host time, Unix seconds
 * @see spec/wire.md §7
 */
export function decideApproval(
  record: AccessRecord,
  by: Principal,
  asked: Approval,
  now: number,
): ApprovalDecision {
  const found = named(record, asked)
  if (found === undefined) return refuse(record, 'forbidden')
  if (found.approved !== null) return decideAgain(record, found.approved, asked.device, now)
  const settled = settledCode(found, now)
  if (settled !== null) return refuse(record, settled)
  if (enrollmentCodeDigest(asked.enrollment, asked.code) !== found.code_digest) {
    return refuse(withWrongCode(record, found, now), 'wrong_code')
  }
  const { device, rights, grant_expires_at } = asked
  if (device === record.host || device === record.owner) return refuse(record, 'forbidden')
  if (firstLacking(rights, found.request.rights) !== null) return refuse(record, 'forbidden')
  const held = by.kind === 'device' ? by.entry.grant : null
  const missing = held === null ? null : firstLacking(rights, held.rights)
  if (missing !== null) return { kind: 'refuse', code: 'missing_right', missing, record }
  const latest = Math.min(now + grantSecondsMax, held?.expires_at ?? Number.POSITIVE_INFINITY)
  if (grant_expires_at <= now || grant_expires_at > latest) return refuse(record, 'forbidden')
  return { kind: 'grant', enrollment: found }
}

/** The record after `entry` was granted by approving `enrollment`; the grant itself is added apart. */
export function withApproval(
  record: AccessRecord,
  enrollment: EnrollmentEntry,
  { grant }: GrantEntry,
  now: number,
): AccessRecord {
  const approved = { device: grant.device, grant: grant.grant, at: now }
  return withEnrollment(record, { ...enrollment, approved })
}

/**
 * The record after a denial; again is no change. Refuses `forbidden` for an unknown one, `conflict` for one that was
 * approved (its grant is ended by revoking the device) and `expired`.
 * @see spec/wire.md §7
 */
export function denyEnrollment(record: AccessRecord, asked: NamedEnrollment, now: number): AccessRecord {
  const found = named(record, asked)
  if (found === undefined) throw new Refusal('forbidden', 'no enrollment of this host has this digest')
  if (found.approved !== null) throw new Refusal('conflict', 'this enrollment was approved')
  if (found.request.expires_at <= now) throw new Refusal('expired', 'this enrollment has expired')
  return found.denied_at === null ? withEnrollment(record, { ...found, denied_at: now }) : record
}

/** Whether an enrollment waits to be approved, so that unknown keys are worth listening to. @see spec/wire.md §7 */
export function enrollmentOpen(record: AccessRecord, now: number): boolean {
  return record.enrollments.some((entry) => entry.approved === null && settledCode(entry, now) === null)
}

function named(record: AccessRecord, asked: NamedEnrollment): EnrollmentEntry | undefined {
  return record.enrollments.find(
    ({ request, digest }) =>
      request.enrollment === asked.enrollment &&
      digest === asked.request_digest &&
      request.relay === asked.relay,
  )
}

/** Why nobody can approve an enrollment any more, in the order of the page. */
function settledCode(entry: EnrollmentEntry, now: number): WireCode | null {
  if (entry.request.expires_at <= now) return 'expired'
  if (entry.denied_at !== null) return 'denied'
  return entry.closed_at === null ? null : 'rate_limited'
}

function decideAgain(
  record: AccessRecord,
  approved: NonNullable<EnrollmentEntry['approved']>,
  device: string,
  now: number,
): ApprovalDecision {
  if (approved.device !== device) return refuse(record, 'conflict')
  const entry = record.grants.find((candidate) => candidate.grant.grant === approved.grant)
  if (entry === undefined) return refuse(record, 'revoked')
  const state = grantState(entry, now)
  return state === 'active' ? { kind: 'again', entry } : refuse(record, state)
}

function withWrongCode(record: AccessRecord, entry: EnrollmentEntry, now: number): AccessRecord {
  const attempts = entry.attempts + 1
  const closed_at = attempts >= enrollmentAttemptsMax ? now : null
  return withEnrollment(record, { ...entry, attempts, closed_at })
}

function withEnrollment(record: AccessRecord, next: EnrollmentEntry): AccessRecord {
  return {
    ...record,
    enrollments: record.enrollments.map((entry) =>
      entry.request.enrollment === next.request.enrollment ? next : entry,
    ),
  }
}

function refuse(record: AccessRecord, code: WireCode): ApprovalDecision {
  return { kind: 'refuse', code, missing: null, record }
}
