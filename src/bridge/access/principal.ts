import { clockSkewSeconds } from '../../limits.ts'
import { Refusal, type WireCode } from '../../protocol/refusal.ts'
import type { Right } from '../../protocol/rights.ts'
import { currentInLine, epochOf, grantState, isCurrent } from './grants.ts'
import type { AccessRecord, GrantEntry } from './record.ts'

/** Under whose authority an operation runs. */
export type Principal =
  | { readonly kind: 'operator' }
  | { readonly kind: 'owner'; readonly key: string }
  | { readonly kind: 'device'; readonly key: string; readonly entry: GrantEntry }

/** What the principal check needs of a request. */
export interface Claim {
  readonly signer: string
  readonly grant: string | null
  readonly epoch: number | null
  readonly issued_at: number
  readonly expires_at: number
}

/**
 * Who is asking: the owner without a grant, or a device under a current grant of its own. Pure.
 * @param now host time, Unix seconds
 * @returns the principal, or the code of the refusal
 * @see spec/wire.md §7, step 2
 */
export function principalOf(record: AccessRecord, claim: Claim, now: number): Principal | WireCode {
  if (claim.grant === null) {
    return claim.signer === record.owner ? { kind: 'owner', key: claim.signer } : 'forbidden'
  }
  const entry = record.grants.find((candidate) => candidate.grant.grant === claim.grant)
  if (entry === undefined || entry.grant.device !== claim.signer) return 'forbidden'
  const state = grantState(entry, now)
  if (state !== 'active') return state
  if (claim.epoch !== entry.grant.epoch || entry.grant.epoch !== epochOf(record, claim.signer)) return 'stale'
  const tooEarly = claim.issued_at < entry.grant.issued_at - clockSkewSeconds
  if (tooEarly || claim.expires_at > entry.grant.expires_at) return 'forbidden'
  return { kind: 'device', key: claim.signer, entry }
}

/** Whether `principal` may do what needs `right`: the operator and the owner hold every right. */
export function holdsRight(principal: Principal, right: Right | null): boolean {
  return right === null || principal.kind !== 'device' || principal.entry.grant.rights.includes(right)
}

/**
 * Holds an operation to the principal as it stands now, under the book's lock: what was admitted a moment ago may have
 * been revoked since. Refuses `revoked`, `expired` or `stale`.
 * @see spec/wire.md §7
 */
export function requireStanding(record: AccessRecord, principal: Principal, now: number): void {
  if (principal.kind !== 'device') return
  const { grant } = principal.entry.grant
  const entry = record.grants.find((candidate) => candidate.grant.grant === grant)
  const state = entry === undefined ? 'revoked' : grantState(entry, now)
  if (state !== 'active') throw new Refusal(state, 'the grant of whoever asks has ended')
  if (entry !== undefined && !isCurrent(record, entry, now)) {
    throw new Refusal('stale', 'the grant of whoever asks is of an earlier epoch')
  }
}

/**
 * Whether a recorded sender still stands: it holds `operate` under the recorded grant or a renewal of it. The owner
 * stands without one.
 * @see spec/commands.md §3
 */
export function standsNow(
  record: AccessRecord,
  sender: { device: string; grant: string | null; epoch: number | null },
  now: number,
): boolean {
  const { grant, device, epoch } = sender
  if (grant === null) return device === record.owner
  return currentInLine(record, grant, now).some(
    (entry) =>
      entry.grant.device === device && entry.grant.epoch === epoch && entry.grant.rights.includes('operate'),
  )
}
