import { deadRecordSeconds, epochsMax, grantsMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Right } from '../../protocol/rights.ts'
import type { AccessRecord, GrantEntry } from './record.ts'

export type GrantState = 'active' | 'revoked' | 'expired'

/** What a grant is worth at `now` (Unix seconds), by its own record; the device's epoch is judged apart. */
export function grantState(entry: GrantEntry, now: number): GrantState {
  if (entry.revoked_at !== null) return 'revoked'
  return entry.grant.expires_at <= now ? 'expired' : 'active'
}

/** The device's epoch; 0 for one that was never revoked. */
export function epochOf(record: AccessRecord, device: string): number {
  return record.epochs.find((entry) => entry.device === device)?.epoch ?? 0
}

/** Whether the grant admits its device now: active, and of the device's current epoch. */
export function isCurrent(record: AccessRecord, entry: GrantEntry, now: number): boolean {
  return grantState(entry, now) === 'active' && entry.grant.epoch === epochOf(record, entry.grant.device)
}

/** The current grants, one a device except while a renewal overlaps; the newest first. */
export function currentGrants(record: AccessRecord, now: number): GrantEntry[] {
  return record.grants
    .filter((entry) => isCurrent(record, entry, now))
    .sort((one, other) => other.grant.issued_at - one.grant.issued_at)
}

/** Whether `device` may `right` at `now`, by any current grant of its own. */
export function deviceHolds(record: AccessRecord, device: string, right: Right, now: number): boolean {
  return currentGrants(record, now).some(
    (entry) => entry.grant.device === device && entry.grant.rights.includes(right),
  )
}

/**
 * Adds a fresh grant: it supersedes the device's others (its epoch stays), and a full book drops the grant that is
 * longest dead.
 *
 * Refuses `bounds` when every kept grant is alive, or when no epoch could be kept for one more device (so a
 * revocation always finds its place).
 * @see spec/wire.md §7
 */
export function addGrant(record: AccessRecord, fresh: GrantEntry, now: number): AccessRecord {
  const device = fresh.grant.device
  const superseded = record.grants.map((entry) =>
    entry.grant.device === device && grantState(entry, now) === 'active'
      ? { ...entry, revoked_at: now }
      : entry,
  )
  return {
    ...record,
    grants: [...withRoomForOne(superseded, now), fresh],
    epochs: withEpochKept(record, device),
  }
}

/** Drops what has been dead for longer than it is useful: grants and invitations, a minute after their expiry. */
export function prune(record: AccessRecord, now: number): AccessRecord {
  const grants = record.grants.filter((entry) => entry.grant.expires_at + deadRecordSeconds > now)
  const known = new Set(grants.map((entry) => entry.grant.device))
  return {
    ...record,
    grants,
    invitations: record.invitations
      .filter((entry) => entry.expires_at + deadRecordSeconds > now)
      .map((entry) => ({ ...entry, replies: entry.replies.filter((reply) => reply.expires_at > now) })),
    epochs: record.epochs.filter((entry) => entry.epoch > 0 || known.has(entry.device)),
  }
}

function withRoomForOne(grants: GrantEntry[], now: number): GrantEntry[] {
  if (grants.length < grantsMax) return grants
  let longestDead: GrantEntry | undefined
  for (const entry of grants) {
    if (grantState(entry, now) === 'active') continue
    if (longestDead === undefined || diedAt(entry) < diedAt(longestDead)) longestDead = entry
  }
  if (longestDead === undefined) throw new Refusal('bounds', `this host already serves ${grantsMax} grants`)
  return grants.filter((entry) => entry !== longestDead)
}

function diedAt(entry: GrantEntry): number {
  return Math.min(entry.revoked_at ?? entry.grant.expires_at, entry.grant.expires_at)
}

function withEpochKept(record: AccessRecord, device: string): AccessRecord['epochs'] {
  if (record.epochs.some((entry) => entry.device === device)) return record.epochs
  if (record.epochs.length >= epochsMax) {
    throw new Refusal('bounds', `this host already remembers ${epochsMax} devices`)
  }
  return [...record.epochs, { device, epoch: 0 }]
}
