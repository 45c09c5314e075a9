import { capabilityDigest } from '../../src/bridge/access/invitations.ts'
import type {
  AccessRecord,
  EnrollmentEntry,
  GrantEntry,
  InvitationEntry,
} from '../../src/bridge/access/record.ts'
import { emptyAccessRecord } from '../../src/bridge/access/record.ts'
import { enrollmentCodeDigest, enrollmentDigest } from '../../src/protocol/enrollment-code.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Right } from '../../src/protocol/rights.ts'
import { testKey } from './keys.ts'

/** Public keys of the cast: those of the scalars 11 to 15, as in the wire fixtures. */
export const keys = {
  host: testKey(11).publicKey,
  owner: testKey(12).publicKey,
  phone: testKey(13).publicKey,
  tablet: testKey(14).publicKey,
  stranger: testKey(15).publicKey,
} as const

export const relay = 'wss://relay.example.net/'
export const now = 1_795_000_000

/** 64 hex made of one digit pair. */
export function id(byte: number): string {
  return byte.toString(16).padStart(2, '0').repeat(32)
}

/** An event of the right shape whose signature nobody checks. */
export function someEvent(byte: number): NostrEvent {
  return {
    id: id(byte),
    pubkey: keys.host,
    created_at: now,
    kind: 3188,
    tags: [],
    content: 'x',
    sig: id(byte).repeat(2),
  }
}

export function grantEntry(
  changes: Partial<GrantEntry['grant']> & { revoked_at?: number | null } = {},
): GrantEntry {
  const { revoked_at = null, ...grant } = changes
  const rights: Right[] = ['observe', 'operate']
  return {
    grant: {
      v: 'openagents.host-grant.v1',
      requires: [],
      grant: id(0xa1),
      host: keys.host,
      owner: keys.owner,
      device: keys.phone,
      relay,
      rights,
      epoch: 0,
      origin: { kind: 'invitation', id: id(0xb1), issuer: keys.host },
      issued_at: now,
      expires_at: now + 86_400,
      ...grant,
    },
    authorization: someEvent(0xc1),
    revoked_at,
    last_seen: null,
    renews: [],
  }
}

export const capability = id(0xd1)

export function invitationEntry(changes: Partial<InvitationEntry> = {}): InvitationEntry {
  return {
    invitation: id(0xb1),
    capability_digest: capabilityDigest(capability),
    relay,
    issued_at: now,
    expires_at: now + 300,
    rights: ['observe', 'operate'],
    grant_expires_at: now + 86_400,
    issuer: { kind: 'host' },
    cancelled_at: null,
    redeemed: null,
    answers: 0,
    replies: [],
    ...changes,
  }
}

export const enrollmentCode = 'JN7V-2V1E'

export function enrollmentEntry(changes: Partial<EnrollmentEntry> = {}): EnrollmentEntry {
  const rights: Right[] = ['observe', 'operate', 'review']
  const request: EnrollmentEntry['request'] = {
    v: 'openagents.host-enrollment-request.v1',
    requires: [],
    enrollment: id(0xe1),
    host: keys.host,
    owner: keys.owner,
    relay,
    rights,
    issued_at: now,
    expires_at: now + 300,
    ...changes.request,
  }
  return {
    digest: enrollmentDigest(request),
    code_digest: enrollmentCodeDigest(request.enrollment, enrollmentCode),
    attempts: 0,
    denied_at: null,
    closed_at: null,
    approved: null,
    ...changes,
    request,
  }
}

export function record(changes: Partial<AccessRecord> = {}): AccessRecord {
  const grants = changes.grants ?? []
  const devices = [...new Set(grants.map((entry) => entry.grant.device))]
  return {
    ...emptyAccessRecord(keys.host, keys.owner),
    epochs: devices.map((device) => ({ device, epoch: 0 })),
    ...changes,
  }
}
