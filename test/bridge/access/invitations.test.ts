import { describe, expect, it } from 'vitest'
import {
  cancelInvitation,
  capabilityDigest,
  createInvitation,
  invitationOpen,
} from '../../../src/bridge/access/invitations.ts'
import type { Principal } from '../../../src/bridge/access/principal.ts'
import { grantSecondsMax, invitationsMax } from '../../../src/limits.ts'
import { parseInvitation } from '../../../src/protocol/invitation.ts'
import type { Right } from '../../../src/protocol/rights.ts'
import { systemRandom } from '../../../src/seams/random.ts'
import { grantEntry, id, invitationEntry, keys, now, record, relay } from '../../support/access.ts'

const operator: Principal = { kind: 'operator' }
const terms = { rights: ['observe'] as Right[], grant_expires_at: now + 3_600, relay }
const delegate: Principal = {
  kind: 'device',
  key: keys.tablet,
  entry: grantEntry({ device: keys.tablet, rights: ['observe', 'access_admin'], expires_at: now + 7_200 }),
}

describe('creating an invitation', () => {
  it('keeps the digest of the capability and never the capability', () => {
    const made = createInvitation(record(), operator, terms, now, systemRandom)
    const read = parseInvitation(made.code, 'production')
    const [entry] = made.record.invitations
    expect(read).toMatchObject({ host: keys.host, invitation: made.invitation, relay, issued_at: now })
    expect(entry?.capability_digest).toBe(capabilityDigest(read.capability))
    expect(JSON.stringify(made.record)).not.toContain(read.capability)
    expect(made.expires_at).toBe(now + 300)
  })

  it('says whose authority it has', () => {
    const issuers = [operator, { kind: 'owner', key: keys.owner } as const, delegate].map(
      (by) => createInvitation(record(), by, terms, now, systemRandom).record.invitations[0]?.issuer,
    )
    expect(issuers).toEqual([
      { kind: 'host' },
      { kind: 'owner' },
      { kind: 'device', device: keys.tablet, grant: id(0xa1) },
    ])
  })

  const refused: [string, Principal, Partial<typeof terms>, object][] = [
    [
      'a grant that ends with its invitation',
      operator,
      { grant_expires_at: now + 300 },
      { code: 'forbidden' },
    ],
    [
      'a grant of more than 30 days',
      operator,
      { grant_expires_at: now + grantSecondsMax + 1 },
      { code: 'forbidden' },
    ],
    [
      'a device that lacks a right, naming the first',
      delegate,
      { rights: ['operate', 'review'] },
      { code: 'missing_right', missing: 'operate' },
    ],
    [
      'a delegated grant that outlives its own',
      delegate,
      { grant_expires_at: now + 7_201 },
      { code: 'forbidden' },
    ],
  ]
  for (const [name, by, changes, refusal] of refused) {
    it(`refuses ${name}`, () => {
      expect(() => createInvitation(record(), by, { ...terms, ...changes }, now, systemRandom)).toThrow(
        expect.objectContaining(refusal),
      )
    })
  }

  it('keeps at most 64, dropping dead ones first', () => {
    const invitations = Array.from({ length: invitationsMax }, (_, index) =>
      invitationEntry({ invitation: index.toString(16).padStart(64, '0') }),
    )
    expect(() => createInvitation(record({ invitations }), operator, terms, now, systemRandom)).toThrow(
      expect.objectContaining({ code: 'bounds' }),
    )
    const later = now + 400
    const made = createInvitation(
      record({ invitations }),
      operator,
      { ...terms, grant_expires_at: later + 3_600 },
      later,
      systemRandom,
    )
    expect(made.record.invitations).toHaveLength(1)
  })

  it('acted on again, replaces the one that nobody was told of', () => {
    const first = createInvitation(record(), operator, terms, now, systemRandom, id(5))
    const second = createInvitation(first.record, operator, terms, now, systemRandom, id(5))
    expect(second.record.invitations).toHaveLength(1)
    expect(second.code).not.toBe(first.code)
  })
})

describe('cancelling an invitation', () => {
  it('is done once and again is no change', () => {
    const once = cancelInvitation(record({ invitations: [invitationEntry()] }), id(0xb1), now)
    expect(once.invitations[0]?.cancelled_at).toBe(now)
    expect(cancelInvitation(once, id(0xb1), now + 5)).toBe(once)
  })

  it('refuses an unknown and a redeemed one', () => {
    const redeemed = { device: keys.phone, grant: id(0xa1), at: now }
    expect(() => cancelInvitation(record(), id(0xb1), now)).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    )
    expect(() =>
      cancelInvitation(record({ invitations: [invitationEntry({ redeemed })] }), id(0xb1), now),
    ).toThrow(expect.objectContaining({ code: 'conflict' }))
  })
})

describe('listening to strangers', () => {
  it('goes on until a minute after the last invitation expired', () => {
    const one = record({ invitations: [invitationEntry()] })
    expect(invitationOpen(record(), now)).toBe(false)
    expect(invitationOpen(one, now + 359)).toBe(true)
    expect(invitationOpen(one, now + 360)).toBe(false)
  })
})
