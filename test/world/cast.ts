import { addGrant, addRenewal, currentGrants, epochOf } from '../../src/bridge/access/grants.ts'
import type { AccessRecord, GrantEntry } from '../../src/bridge/access/record.ts'
import { emptyAccessRecord } from '../../src/bridge/access/record.ts'
import { revokeDevice } from '../../src/bridge/access/revoke.ts'
import type { Sender } from '../../src/commands/journal-entry.ts'

/** The devices of the world: two under grants, and the owner. */
export const devices = ['d'.repeat(64), 'e'.repeat(64), 'f'.repeat(64)] as const
export const owner: string = devices[2]
export const taskIds = ['task-1', 'task-2'] as const

const host = 'a'.repeat(64)
export const grantSeconds = 400_000

/** The access book at the start: both devices hold a grant. */
export function firstRecord(now: number): AccessRecord {
  const empty = emptyAccessRecord(host, owner)
  return devices.slice(0, 2).reduce((record, device) => granted(record, device, now), empty)
}

/** A fresh grant in place of the ones a device had. The owner needs none. */
export function granted(record: AccessRecord, device: string, now: number): AccessRecord {
  if (device === owner) return record
  return addGrant(record, entryFor(record, device, now, []), now)
}

/** A renewal beside the newest grant of a device, if it has one. */
export function renewed(record: AccessRecord, device: string, now: number): AccessRecord {
  const current = newestOf(record, device, now)
  if (current === null) return record
  return addRenewal(record, entryFor(record, device, now, [current.grant.grant, ...current.renews]), now)
}

/** Revokes a device, unless nothing is known of it any more. The owner cannot be revoked. */
export function revoked(record: AccessRecord, device: string, now: number): AccessRecord {
  const isKnown = record.epochs.some((entry) => entry.device === device)
  return isKnown ? revokeDevice(record, device, now).record : record
}

/** As whom a device's command is recorded now; null when it is refused before that. */
export function senderNow(record: AccessRecord, device: string, now: number): Sender | null {
  if (device === owner) return { device, grant: null, epoch: null }
  const current = newestOf(record, device, now)
  return current === null ? null : { device, grant: current.grant.grant, epoch: current.grant.epoch }
}

function newestOf(record: AccessRecord, device: string, now: number): GrantEntry | null {
  return currentGrants(record, now).find((entry) => entry.grant.device === device) ?? null
}

function entryFor(record: AccessRecord, device: string, now: number, renews: string[]): GrantEntry {
  const grant = (record.grants.length + 1).toString(16).padStart(64, '0')
  return {
    grant: {
      v: 'openagents.host-grant.v1',
      requires: [],
      grant,
      host,
      owner,
      device,
      relay: 'wss://relay.example.net/',
      rights: ['observe', 'operate'],
      epoch: epochOf(record, device),
      origin: { kind: 'invitation', id: 'b'.repeat(64), issuer: host },
      issued_at: now,
      expires_at: now + grantSeconds,
    },
    authorization: { id: grant, pubkey: host, created_at: now, kind: 3188, tags: [], content: '', sig: '' },
    revoked_at: null,
    last_seen: null,
    renews: renews.slice(0, 32),
  }
}
