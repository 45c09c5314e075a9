import { renewalLifePercent, renewedKeptMax } from '../../limits.ts'
import { currentInLine } from './grants.ts'
import type { AccessRecord, GrantEntry } from './record.ts'

/** What it calls for that a device was heard under a grant. */
export type Renewal =
  | { readonly kind: 'none' }
  /** The grant nears its end and nothing has been given in its place. */
  | { readonly kind: 'due'; readonly entry: GrantEntry }
  /** A renewal was given already, and this device does not use it yet. */
  | { readonly kind: 'given'; readonly entry: GrantEntry }

/**
 * What becomes of the grant under which a device was just heard. A grant is renewed once, when at most a quarter of
 * its life remains, and only where the host or the owner issued it: what a device gave does not outlive its terms. Pure.
 * @param grant its ID
 * @param now host time, Unix seconds
 * @see spec/wire.md §7
 */
export function renewalOf(record: AccessRecord, grant: string, now: number): Renewal {
  const heard = record.grants.find((entry) => entry.grant.grant === grant)
  // Nothing has been given in place of a young grant; this is all that most requests cost.
  if (heard !== undefined && !nearsItsEnd(heard, now)) return { kind: 'none' }
  const [newest] = currentInLine(record, grant, now)
  if (newest === undefined) return { kind: 'none' }
  if (newest.grant.grant !== grant) return { kind: 'given', entry: newest }
  const { issuer } = newest.grant.origin
  const isOurs = issuer === record.host || issuer === record.owner
  return isOurs ? { kind: 'due', entry: newest } : { kind: 'none' }
}

/** The line of whatever renews `entry`: itself and the grants before it, the newest first, as many as are kept. */
export function lineAfter({ grant, renews }: GrantEntry): string[] {
  return [grant.grant, ...renews].slice(0, renewedKeptMax)
}

function nearsItsEnd({ grant: { issued_at, expires_at } }: GrantEntry, now: number): boolean {
  return (expires_at - now) * 100 <= (expires_at - issued_at) * renewalLifePercent
}
