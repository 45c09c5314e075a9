import type { InvitationEntry } from '../../src/bridge/access/record.ts'
import { repliesPerInvitationMax } from '../../src/limits.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { grantEntry, id, invitationEntry, keys, now, record, someEvent } from '../support/access.ts'
import { asked, ownerHead, type Row, redeemOp, request } from './admission-base.ts'

const admin = grantEntry({
  grant: id(0xa9),
  device: keys.tablet,
  rights: ['observe', 'operate', 'access_admin'],
})
const redeemed = { device: keys.phone, grant: grantEntry().grant.grant, at: now }
const reply = {
  request,
  request_event: asked.event,
  signer: keys.phone,
  expires_at: now + 60,
  reply: someEvent(1),
}
const wrong: Operation = { kind: 'enroll.redeem', invitation: id(0xb1), capability: id(0xdd) }
const byDevice = { kind: 'device', device: keys.tablet, grant: admin.grant.grant } as const

/** What a redemption earns while its window counts; the order is the page's. @see spec/wire.md §7 */
export const redemptionRows: Row[] = [
  of('by a device', {}, 'redeem'),
  { ...of('by the owner', {}, 'refuse forbidden'), asked: signedBy(keys.owner) },
  {
    ...of('by the owner, of a cancelled one', { cancelled_at: now }, 'refuse forbidden'),
    asked: signedBy(keys.owner),
  },
  of('of a cancelled one', { cancelled_at: now }, 'refuse revoked'),
  of('of a cancelled one that expired too', { cancelled_at: now, expires_at: now }, 'refuse revoked'),
  of('in the last second', { issued_at: now - 298, expires_at: now + 2 }, 'redeem'),
  of('of an expired one', { issued_at: now - 299, expires_at: now + 1 }, 'refuse expired'),
  {
    ...of('dated a minute before the invitation', { issued_at: now + 60, expires_at: now + 360 }, 'redeem'),
  },
  of('dated earlier than that', { issued_at: now + 61, expires_at: now + 361 }, 'refuse forbidden'),
  {
    ...of('dated after the invitation', { issued_at: now - 290, expires_at: now + 10 }, 'refuse forbidden'),
    head: { ...ownerHead, issued_at: now + 11, expires_at: now + 60 },
  },
  of('over another relay than it names', { relay: 'wss://other.example.net/' }, 'refuse forbidden'),
  {
    ...of('of what a device delegated', { issuer: byDevice }, 'redeem'),
    around: { record: record({ grants: [admin], invitations: [invitationEntry({ issuer: byDevice })] }) },
  },
  of('of what a device delegated that holds no grant', { issuer: byDevice }, 'refuse revoked'),
  {
    ...of('of more than the delegating device holds', { issuer: byDevice }, 'refuse revoked'),
    around: {
      record: record({
        grants: [admin],
        invitations: [invitationEntry({ issuer: byDevice, rights: ['observe', 'review'] })],
      }),
    },
  },
  of('after another device', { redeemed: { ...redeemed, device: keys.tablet } }, 'refuse forbidden'),
  {
    ...of('once more by the same device, after the invitation expired', {}, 'redeem'),
    around: {
      record: record({
        grants: [grantEntry()],
        invitations: [invitationEntry({ redeemed, issued_at: now - 299, expires_at: now + 1 })],
      }),
    },
  },
  {
    ...of('once more by a device that was revoked since', {}, 'refuse revoked'),
    around: {
      record: record({
        grants: [grantEntry({ revoked_at: now })],
        invitations: [invitationEntry({ redeemed })],
      }),
    },
  },
  {
    ...of('once more, after its grant expired', {}, 'refuse expired'),
    around: {
      record: record({
        grants: [grantEntry({ expires_at: now + 1 })],
        invitations: [invitationEntry({ redeemed })],
      }),
    },
  },
  of('once more, after its grant was forgotten', { redeemed }, 'refuse revoked'),
  of('by the same event', { redeemed, replies: [reply], answers: 1 }, 'kept'),
  {
    ...of('past the answers of one invitation', {}, 'silent invitation_replies'),
    around: {
      record: record({
        grants: [grantEntry()],
        invitations: [invitationEntry({ redeemed, answers: repliesPerInvitationMax })],
      }),
    },
  },
  {
    ...of('with another capability', {}, 'silent unknown_capability'),
    asked: { op: { ok: true, op: wrong } },
  },
  {
    ...of('with another capability, of a cancelled one', { cancelled_at: now }, 'silent unknown_capability'),
    asked: { op: { ok: true, op: wrong } },
  },
  {
    ...of('while the same event is being acted on', {}, 'silent in_flight'),
    around: { record: record({ invitations: [invitationEntry()] }), inFlight: asked.event },
  },
  {
    ...of('outside its own window', {}, 'silent outside_window'),
    head: { ...ownerHead, expires_at: now + 1 },
  },
]

/** What else a grant or a probe may earn. */
export const furtherRows: Row[] = [
  {
    name: 'the owner naming a grant',
    asked: signedBy(keys.owner, false),
    earns: 'refuse forbidden',
  },
  {
    name: 'a revoked grant in another epoch',
    head: { epoch: 1 },
    around: { record: record({ grants: [grantEntry({ revoked_at: now })] }) },
    earns: 'refuse revoked',
  },
  {
    name: 'an expired grant in another epoch',
    head: { epoch: 1 },
    around: { record: record({ grants: [grantEntry({ expires_at: now })] }) },
    earns: 'refuse expired',
  },
  {
    name: 'another epoch in a window that outlives the grant',
    head: { epoch: 1 },
    around: { record: record({ grants: [grantEntry({ expires_at: now + 30 })] }) },
    earns: 'refuse stale',
  },
  {
    name: 'a window that ends with the grant',
    around: { record: record({ grants: [grantEntry({ expires_at: now + 60 })] }) },
    earns: 'act device',
  },
  {
    name: 'a window that begins a minute before the grant',
    around: { record: record({ grants: [grantEntry({ issued_at: now + 60 })] }) },
    earns: 'act device',
  },
  {
    name: 'an older grant beside its renewal',
    around: {
      record: record({
        grants: [
          grantEntry({ expires_at: now + 90 }),
          grantEntry({ grant: id(0xa5), expires_at: now + 900 }),
        ],
      }),
    },
    earns: 'act device',
  },
  {
    name: 'an approval without the right to it',
    asked: {
      op: { ok: true, op: { kind: 'enroll.deny', enrollment: id(1), request_digest: `sha256:${id(2)}` } },
    },
    earns: 'refuse missing_right access_admin retained',
  },
  {
    name: 'a missing right while the same event is being acted on',
    asked: { op: { ok: true, op: { kind: 'device.list' } } },
    around: { inFlight: asked.event },
    earns: 'refuse missing_right access_read retained',
  },
  {
    name: 'a probe of the host key',
    asked: { signer: keys.host, op: { ok: false, code: 'malformed' } },
    head: ownerHead,
    earns: 'silent from_host',
  },
  {
    name: 'a probe of an expired device',
    asked: { op: { ok: false, code: 'malformed' } },
    around: { record: record({ grants: [grantEntry({ expires_at: now })] }) },
    earns: 'silent bad_body',
  },
  {
    name: 'a probe outside its window',
    asked: { op: { ok: false, code: 'malformed' } },
    around: { now: now + 60 },
    earns: 'silent outside_window',
  },
]

/** A redemption by the phone, of an invitation with these changes. */
function of(name: string, changes: Partial<InvitationEntry>, earns: string): Row {
  return {
    name: `a redemption ${name}`,
    asked: { op: { ok: true, op: redeemOp } },
    head: ownerHead,
    around: { record: record({ invitations: [invitationEntry(changes)] }) },
    earns,
  }
}

function signedBy(signer: string, redeeming = true): NonNullable<Row['asked']> {
  return redeeming ? { signer, op: { ok: true, op: redeemOp } } : { signer }
}
