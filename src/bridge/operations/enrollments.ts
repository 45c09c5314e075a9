import { enrollmentCopiesMax, grantPublishSeconds } from '../../limits.ts'
import type { NostrEvent } from '../../protocol/event.ts'
import type { OperationOf } from '../../protocol/operations.ts'
import { Refusal, type WireCode } from '../../protocol/refusal.ts'
import type { Right } from '../../protocol/rights.ts'
import { nowSeconds } from '../../seams/clock.ts'
import { audience } from '../access/audience.ts'
import { createEnrollment, decideApproval, denyEnrollment, withApproval } from '../access/enrollments.ts'
import { addGrant } from '../access/grants.ts'
import { requireStanding } from '../access/principal.ts'
import type { AccessRecord, EnrollmentEntry, GrantEntry } from '../access/record.ts'
import { issuerKey, makeGrant } from '../make-grant.ts'
import { seal } from '../seal.ts'
import type { Asking, GrantingContext } from './context.ts'

export interface MadeEnrollment {
  readonly host: string
  readonly enrollment: string
  /** Shown once at the host, never logged: whoever approves proves with it that they saw the host. */
  readonly code: string
  /** What an approval names the request by. */
  readonly digest: string
  readonly relay: string
  readonly expires_at: number
  /** How many devices were asked beside the owner. */
  readonly devices: number
}

/**
 * Asks the owner and every device that may administer access to approve a device on this host: stores the request,
 * sends each a sealed copy of it, and only then gives the code.
 *
 * Refuses `bounds` as `createEnrollment` does.
 * @param terms the most that an approval may give, and the relay that it has to come over
 * @see spec/wire.md §7
 */
export async function requestEnrollment(
  context: GrantingContext,
  terms: { rights: Right[]; relay: string },
): Promise<MadeEnrollment> {
  const made = await context.book.change((record, now) => {
    const { record: after, ...value } = createEnrollment(record, terms, now, context.random)
    return { record: after, value }
  })
  const { request, digest } = made.entry
  const devices = approvers(context.book.read(), nowSeconds(context.clock))
  sendCopy(context, made.entry, request.owner, request.relay)
  for (const [device, relay] of devices) sendCopy(context, made.entry, device, relay)
  const { host, enrollment, relay, expires_at } = request
  return { host, enrollment, code: made.code, digest, relay, expires_at, devices: devices.length }
}

/**
 * Approves an enrollment: the grant and its consumption are one save. The grant is told to its device too; a repeat
 * for the same device gives the same grant.
 *
 * Refuses as `decideApproval` decides; a wrong code is counted before it is refused.
 * @see spec/wire.md §7
 */
export async function approveEnrollment(
  context: GrantingContext,
  asking: Asking,
  op: OperationOf<'enroll.approve'>,
): Promise<NostrEvent> {
  const { principal, relay } = asking
  const approved = await context.book.change<GrantEntry | { code: WireCode; missing: Right | null }>(
    (record, now) => {
      requireStanding(record, principal, now)
      const decision = decideApproval(record, principal, { ...op, relay }, now)
      if (decision.kind === 'refuse') return { record: decision.record, value: decision }
      if (decision.kind === 'again') return { record, value: decision.entry }
      const { request } = decision.enrollment
      const issuer = issuerKey(record, principal)
      const origin = { kind: 'approval' as const, id: request.enrollment, issuer }
      const { device, rights, grant_expires_at: expires_at } = op
      const terms = { device, relay: request.relay, rights, origin, expires_at }
      const entry = makeGrant(context, record, terms, now)
      const granted = addGrant(record, entry, now)
      return { record: withApproval(granted, decision.enrollment, entry, now), value: entry }
    },
  )
  if ('code' in approved) throw refusal(approved)
  tellGrant(context, approved)
  context.enrolled(approved.grant.device)
  return approved.authorization
}

/** Denies an enrollment; again is no change. Refuses as `denyEnrollment` does. @see spec/wire.md §7 */
export async function refuseEnrollment(
  context: GrantingContext,
  asking: Asking,
  op: OperationOf<'enroll.deny'>,
): Promise<void> {
  const { principal, relay } = asking
  await context.book.change((record, now) => {
    requireStanding(record, principal, now)
    return { record: denyEnrollment(record, { ...op, relay }, now), value: undefined }
  })
}

/** Hands a grant's authorization to its device, on the grant's own relay. */
export function tellGrant(context: GrantingContext, { grant, authorization }: GrantEntry): void {
  const until = Math.min(grant.expires_at, nowSeconds(context.clock) + grantPublishSeconds)
  context.publish(grant.relay, authorization, until)
}

/** The devices that may approve now, and the relay of each. The newest grants first, within the bound. */
function approvers(record: AccessRecord, now: number): [device: string, relay: string][] {
  return [...audience(record, now, 'access_admin')].slice(0, enrollmentCopiesMax)
}

function sendCopy(
  { sealer, publish }: GrantingContext,
  { request }: EnrollmentEntry,
  recipient: string,
  relay: string,
): void {
  const { enrollment, issued_at, expires_at } = request
  publish(relay, seal(sealer, recipient, enrollment, request, issued_at, expires_at), expires_at)
}

function refusal({ code, missing }: { code: WireCode; missing: Right | null }): Refusal {
  const facts = missing === null ? {} : { missing }
  return new Refusal(code, 'the enrollment cannot be approved', facts)
}
