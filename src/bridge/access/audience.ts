import type { Right } from '../../protocol/rights.ts'
import { currentGrants } from './grants.ts'
import type { AccessRecord } from './record.ts'

/**
 * Whom the host may tell something now, by themselves: every device with a current grant, or with one that holds
 * `right`, and the relay of the newest such grant. Pure.
 * @param now host time, Unix seconds
 */
export function audience(record: AccessRecord, now: number, right?: Right): ReadonlyMap<string, string> {
  const relays = new Map<string, string>()
  for (const { grant } of currentGrants(record, now)) {
    if (relays.has(grant.device) || (right !== undefined && !grant.rights.includes(right))) continue
    relays.set(grant.device, grant.relay)
  }
  return relays
}
