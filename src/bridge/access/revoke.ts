import { Refusal } from '../../protocol/refusal.ts'
import { epochOf, grantState } from './grants.ts'
import type { AccessRecord } from './record.ts'

/** What a revocation did. */
export interface Revocation {
  readonly record: AccessRecord
  readonly device: string
  /** The device's epoch from now on. */
  readonly epoch: number
  /** The grants that it ended. */
  readonly grants: string[]
}

/**
 * Ends every grant of `device`, drops the answers that carry them, and raises its epoch by one, in one record.
 *
 * Refuses `forbidden` for a device that this host never granted anything.
 * @see spec/wire.md §7
 */
export function revokeDevice(record: AccessRecord, device: string, now: number): Revocation {
  if (!record.epochs.some((entry) => entry.device === device)) {
    throw new Refusal('forbidden', 'no such device is enrolled')
  }
  const epoch = epochOf(record, device) + 1
  const ended = record.grants.filter(
    (entry) => entry.grant.device === device && grantState(entry, now) !== 'revoked',
  )
  return {
    device,
    epoch,
    grants: ended.map((entry) => entry.grant.grant),
    record: {
      ...record,
      grants: record.grants.map((entry) => (ended.includes(entry) ? { ...entry, revoked_at: now } : entry)),
      invitations: record.invitations.map((entry) => ({
        ...entry,
        replies: entry.replies.filter((reply) => reply.signer !== device),
      })),
      epochs: record.epochs.map((entry) => (entry.device === device ? { device, epoch } : entry)),
    },
  }
}
