import type { DeviceEntry } from '../../protocol/outcomes.ts'
import { nowSeconds } from '../../seams/clock.ts'
import { grantState } from '../access/grants.ts'
import { type Principal, requireStanding } from '../access/principal.ts'
import type { AccessRecord, GrantEntry } from '../access/record.ts'
import { revokeDevice } from '../access/revoke.ts'
import type { AccessContext } from './context.ts'

/**
 * Every grant that the book remembers, living ones first, then the newest: while a renewal overlaps, its device is
 * there twice, the renewal first.
 * @param lastSeen what was heard since the book was last saved, by grant
 */
export function listDevices(
  record: AccessRecord,
  now: number,
  lastSeen: (grant: string) => number | null = () => null,
): DeviceEntry[] {
  const rank = (entry: GrantEntry) => (grantState(entry, now) === 'active' ? 0 : 1)
  return [...record.grants]
    .sort((one, other) => rank(one) - rank(other) || other.grant.issued_at - one.grant.issued_at)
    .map((entry) => {
      const { device, grant, rights, epoch, origin, issued_at, expires_at } = entry.grant
      return {
        device,
        grant,
        rights,
        epoch,
        origin: origin.kind,
        issued_at,
        expires_at,
        state: grantState(entry, now),
        last_seen: lastSeen(grant) ?? entry.last_seen,
      }
    })
}

/** The devices as the service knows them now. */
export function devicesNow(context: AccessContext): DeviceEntry[] {
  return listDevices(context.book.read(), nowSeconds(context.clock), context.book.heardAt)
}

/**
 * Ends a device's access: its grants, its kept answers, its epoch, in one save before this resolves.
 *
 * Refuses `forbidden` for a device that was never granted anything, and as `requireStanding` does.
 * @see spec/wire.md §7
 */
export async function revoke(
  context: AccessContext,
  by: Principal,
  device: string,
): Promise<{ device: string; epoch: number; grants: string[] }> {
  const done = await context.book.change((record, now) => {
    requireStanding(record, by, now)
    const { record: after, ...value } = revokeDevice(record, device, now)
    return { record: after, value }
  })
  context.forget(device)
  return done
}
