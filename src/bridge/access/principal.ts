import { clockSkewSeconds } from '../../limits.ts'
import type { WireCode } from '../../protocol/refusal.ts'
import type { Right } from '../../protocol/rights.ts'
import { epochOf, grantState } from './grants.ts'
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
 * Whether a recorded sender still stands: it holds `operate` under the recorded grant or a renewal of it, which has
 * the same epoch and origin. The owner stands without one.
 * @see spec/commands.md §3
 */
export function standsNow(
  record: AccessRecord,
  sender: { device: string; grant: string | null; epoch: number | null },
  now: number,
): boolean {
  if (sender.grant === null) return sender.device === record.owner
  const recorded = record.grants.find((entry) => entry.grant.grant === sender.grant)
  return record.grants.some((entry) => {
    const { grant } = entry
    if (grant.device !== sender.device || grant.epoch !== sender.epoch) return false
    if (grant.epoch !== epochOf(record, sender.device) || grantState(entry, now) !== 'active') return false
    if (!grant.rights.includes('operate')) return false
    return grant.grant === sender.grant || sameOrigin(recorded, entry)
  })
}

function sameOrigin(recorded: GrantEntry | undefined, other: GrantEntry): boolean {
  if (recorded === undefined) return false
  const one = recorded.grant.origin
  const two = other.grant.origin
  return one.kind === two.kind && one.id === two.id && one.issuer === two.issuer
}
