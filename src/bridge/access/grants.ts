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

/**
 * The current grants that stand for `grant`: itself and its renewals, the newest first. A renewal remembers its line, so the grant itself may be long dropped.
 */
export function currentInLine(record: AccessRecord, grant: string, now: number): GrantEntry[] {
  return currentGrants(record, now).filter(
    (entry) => entry.grant.grant === grant || entry.renews.includes(grant),
  )
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
export function addGrant(given: AccessRecord, fresh: GrantEntry, now: number): AccessRecord {
  const record = prune(given, now)
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

/**
 * Adds a renewal beside the grant that it renews, which stays until its own expiry.
 *
 * Refuses `bounds` when every kept grant is alive.
 * @see spec/wire.md §7
 */
export function addRenewal(record: AccessRecord, renewal: GrantEntry, now: number): AccessRecord {
  return { ...record, grants: [...withRoomForOne(record.grants, now), renewal] }
}

/**
 * Drops what has been dead for longer than it is useful, a minute after its expiry: grants, invitations, enrollments;
 * and answers to redemptions at theirs. The same record when there is nothing to drop. An epoch that was raised stays.
 * @see spec/wire.md §7
 */
export function prune(record: AccessRecord, now: number): AccessRecord {
  const outlives = ({ expires_at }: { expires_at: number }) => expires_at + deadRecordSeconds > now
  const grants = record.grants.filter(({ grant }) => outlives(grant))
  const known = new Set(grants.map((entry) => entry.grant.device))
  const epochs = record.epochs.filter((entry) => entry.epoch > 0 || known.has(entry.device))
  if (nextDeath(record) > now && epochs.length === record.epochs.length) return record
  return {
    ...record,
    grants,
    invitations: record.invitations
      .filter(outlives)
      .map((entry) => ({ ...entry, replies: entry.replies.filter((reply) => reply.expires_at > now) })),
    enrollments: record.enrollments.filter(({ request }) => outlives(request)),
    epochs,
  }
}

/** When the first part of a record is to be dropped, Unix seconds; infinity when nothing ever is. */
export function nextDeath({ grants, invitations, enrollments }: AccessRecord): number {
  let first = Number.POSITIVE_INFINITY
  for (const { grant } of grants) first = Math.min(first, grant.expires_at + deadRecordSeconds)
  for (const { request } of enrollments) first = Math.min(first, request.expires_at + deadRecordSeconds)
  for (const { expires_at, replies } of invitations) {
    first = Math.min(first, expires_at + deadRecordSeconds)
    for (const reply of replies) first = Math.min(first, reply.expires_at)
  }
  return first
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
