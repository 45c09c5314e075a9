import { describe, expect, it } from 'vitest'
import type { AccessRecord } from '../../../src/bridge/access/record.ts'
import { decideRedemption, type Redemption } from '../../../src/bridge/access/redeem.ts'
import {
  capability,
  grantEntry,
  id,
  invitationEntry,
  keys,
  now,
  record,
  relay,
  someEvent,
} from '../../support/access.ts'

const asked: Redemption = {
  signer: keys.phone,
  invitation: id(0xb1),
  capability,
  relay,
  issued_at: now + 1,
  request_event: id(1),
}
const open = record({ invitations: [invitationEntry()] })
const byTablet = { kind: 'device', device: keys.tablet, grant: id(0xa2) } as const
const admin = grantEntry({
  grant: id(0xa2),
  device: keys.tablet,
  rights: ['observe', 'operate', 'access_admin'],
})
const taken = { device: keys.phone, grant: id(0xa1), at: now }

const cases: {
  name: string
  record: AccessRecord
  asked?: Partial<Redemption>
  at?: number
  earns: string
}[] = [
  { name: 'an open invitation is granted', record: open, earns: 'grant' },
  { name: 'an unknown invitation earns silence', record: record(), earns: 'silent unknown_capability' },
  {
    name: 'a wrong capability earns silence',
    record: open,
    asked: { capability: id(0xd2) },
    earns: 'silent unknown_capability',
  },
  {
    name: 'a wrong capability earns silence even for the owner',
    record: open,
    asked: { capability: id(0xd2), signer: keys.owner },
    earns: 'silent unknown_capability',
  },
  { name: 'the owner is forbidden', record: open, asked: { signer: keys.owner }, earns: 'refuse forbidden' },
  { name: 'the host is forbidden', record: open, asked: { signer: keys.host }, earns: 'refuse forbidden' },
  {
    name: 'a cancelled one is revoked, before it is expired',
    record: record({ invitations: [invitationEntry({ cancelled_at: now })] }),
    at: now + 400,
    earns: 'refuse revoked',
  },
  { name: 'at 299 s it is granted', record: open, at: now + 299, earns: 'grant' },
  { name: 'at 300 s it is expired', record: open, at: now + 300, earns: 'refuse expired' },
  {
    name: 'a request dated 60 s before the invitation is inside its window',
    record: open,
    asked: { issued_at: now - 60 },
    earns: 'grant',
  },
  {
    name: 'a request dated 61 s before the invitation is forbidden',
    record: open,
    asked: { issued_at: now - 61 },
    earns: 'refuse forbidden',
  },
  {
    name: 'another relay than the invitation names is forbidden',
    record: open,
    asked: { relay: 'wss://other.example.net/' },
    earns: 'refuse forbidden',
  },
  {
    name: 'an invitation of a device that still may is granted',
    record: record({ grants: [admin], invitations: [invitationEntry({ issuer: byTablet })] }),
    earns: 'grant',
  },
  {
    name: 'an invitation of a device whose grant was revoked is revoked',
    record: record({
      grants: [{ ...admin, revoked_at: now }],
      invitations: [invitationEntry({ issuer: byTablet })],
    }),
    earns: 'refuse revoked',
  },
  {
    name: 'an invitation of a device whose epoch moved on is revoked',
    record: record({
      grants: [admin],
      epochs: [{ device: keys.tablet, epoch: 1 }],
      invitations: [invitationEntry({ issuer: byTablet })],
    }),
    earns: 'refuse revoked',
  },
  {
    name: 'an invitation of a device whose grant was renewed since is granted, when the old one is over',
    record: record({
      grants: [
        { ...admin, grant: { ...admin.grant, expires_at: now + 1 } },
        { ...admin, grant: { ...admin.grant, grant: id(0xa3) }, renews: [id(0xa2)] },
      ],
      invitations: [invitationEntry({ issuer: byTablet })],
    }),
    earns: 'grant',
  },
  {
    name: 'an invitation of a device that was let in afresh since is revoked',
    record: record({
      grants: [
        { ...admin, revoked_at: now },
        { ...admin, grant: { ...admin.grant, grant: id(0xa3) } },
      ],
      invitations: [invitationEntry({ issuer: byTablet })],
    }),
    earns: 'refuse revoked',
  },
  {
    name: 'an invitation of a device that may not administer access is revoked',
    record: record({
      grants: [{ ...admin, grant: { ...admin.grant, rights: ['observe', 'operate'] } }],
      invitations: [invitationEntry({ issuer: byTablet })],
    }),
    earns: 'refuse revoked',
  },
  {
    name: "an invitation of a device whose grant is another device's is revoked",
    record: record({
      grants: [{ ...admin, grant: { ...admin.grant, device: keys.stranger } }],
      invitations: [invitationEntry({ issuer: byTablet })],
    }),
    earns: 'refuse revoked',
  },
  {
    name: 'an invitation of the owner needs no grant',
    record: record({ invitations: [invitationEntry({ issuer: { kind: 'owner' } })] }),
    earns: 'grant',
  },
  {
    name: 'an invitation to more than its device holds is revoked',
    record: record({
      grants: [admin],
      invitations: [invitationEntry({ issuer: byTablet, rights: ['review'] })],
    }),
    earns: 'refuse revoked',
  },
  {
    name: 'one redeemed by another device is forbidden',
    record: record({ grants: [grantEntry()], invitations: [invitationEntry({ redeemed: taken })] }),
    asked: { signer: keys.tablet },
    earns: 'refuse forbidden',
  },
  {
    name: 'the same device gets the same grant again',
    record: record({ grants: [grantEntry()], invitations: [invitationEntry({ redeemed: taken })] }),
    asked: { request_event: id(2) },
    earns: 'again',
  },
  {
    name: 'the same device gets the same grant again after the invitation expired',
    record: record({ grants: [grantEntry()], invitations: [invitationEntry({ redeemed: taken })] }),
    at: now + 310,
    earns: 'again',
  },
  {
    name: 'the same device is revoked once its grant is',
    record: record({
      grants: [grantEntry({ revoked_at: now })],
      invitations: [invitationEntry({ redeemed: taken })],
    }),
    earns: 'refuse revoked',
  },
  {
    name: 'the same event gets the same signed bytes',
    record: record({
      grants: [grantEntry()],
      invitations: [
        invitationEntry({
          redeemed: taken,
          replies: [
            {
              request: id(9),
              request_event: id(1),
              signer: keys.phone,
              expires_at: now + 60,
              reply: someEvent(7),
            },
          ],
        }),
      ],
    }),
    earns: 'kept',
  },
  {
    name: 'after 32 answers there is silence',
    record: record({
      grants: [grantEntry()],
      invitations: [invitationEntry({ redeemed: taken, answers: 32 })],
    }),
    earns: 'silent invitation_replies',
  },
]

describe('a redemption', () => {
  for (const row of cases) {
    it(row.name, () => {
      const decision = decideRedemption(row.record, { ...asked, ...row.asked }, row.at ?? now + 2)
      const detail =
        decision.kind === 'refuse' ? decision.code : decision.kind === 'silent' ? decision.reason : ''
      expect(`${decision.kind} ${detail}`.trim()).toBe(row.earns)
    })
  }
})
