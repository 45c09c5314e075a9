import { describe, expect, it } from 'vitest'
import { addGrant, addRenewal, currentGrants, currentInLine } from '../../../src/bridge/access/grants.ts'
import { type Principal, requireStanding, standsNow } from '../../../src/bridge/access/principal.ts'
import type { AccessRecord, GrantEntry } from '../../../src/bridge/access/record.ts'
import { lineAfter, renewalOf } from '../../../src/bridge/access/renewal.ts'
import { revokeDevice } from '../../../src/bridge/access/revoke.ts'
import { renewedKeptMax } from '../../../src/limits.ts'
import { grantEntry, id, keys, now, record } from '../../support/access.ts'

const invitation = { kind: 'invitation', id: id(0xb1) } as const
const old = grantEntry({ expires_at: now + 1_000 })
const renewal: GrantEntry = {
  ...grantEntry({ grant: id(0xa2), issued_at: now + 800, expires_at: now + 1_800 }),
  renews: lineAfter(old),
}
const both = addRenewal(record({ grants: [old] }), renewal, now + 800)

const cases: [string, AccessRecord, string, number, string][] = [
  ['at 74.9 % of its life', record({ grants: [old] }), id(0xa1), now + 749, 'none'],
  ['at 75 % of its life', record({ grants: [old] }), id(0xa1), now + 750, 'due'],
  ['in its last second', record({ grants: [old] }), id(0xa1), now + 999, 'due'],
  ['at its end', record({ grants: [old] }), id(0xa1), now + 1_000, 'none'],
  ['that is unknown', record(), id(0xa1), now + 900, 'none'],
  ['that was revoked', record({ grants: [{ ...old, revoked_at: now }] }), id(0xa1), now + 900, 'none'],
  [
    'of an earlier epoch',
    record({ grants: [old], epochs: [{ device: keys.phone, epoch: 1 }] }),
    id(0xa1),
    now + 900,
    'none',
  ],
  [
    'that the owner issued',
    record({
      grants: [grantEntry({ expires_at: now + 1_000, origin: { ...invitation, issuer: keys.owner } })],
    }),
    id(0xa1),
    now + 900,
    'due',
  ],
  [
    'that a device issued',
    record({
      grants: [grantEntry({ expires_at: now + 1_000, origin: { ...invitation, issuer: keys.tablet } })],
    }),
    id(0xa1),
    now + 900,
    'none',
  ],
  ['that was renewed already', both, id(0xa1), now + 900, `given ${id(0xa2)}`],
  ['that was renewed, once it is over itself', both, id(0xa1), now + 1_200, `given ${id(0xa2)}`],
  ['that is a young renewal', both, id(0xa2), now + 1_200, 'none'],
  ['that is a renewal near its end', both, id(0xa2), now + 1_550, 'due'],
]

describe('a grant under which its device is heard', () => {
  for (const [name, book, grant, at, expected] of cases) {
    it(`${name}: ${expected.split(' ')[0]}`, () => {
      const found = renewalOf(book, grant, at)
      expect(found.kind === 'given' ? `given ${found.entry.grant.grant}` : found.kind).toBe(expected)
    })
  }
})

describe('a renewal', () => {
  it('stands beside the grant that it renews until that one is over', () => {
    const current = (at: number) => currentGrants(both, at).map(({ grant }) => grant.grant)
    expect(current(now + 900)).toEqual([id(0xa2), id(0xa1)])
    expect(current(now + 1_000)).toEqual([id(0xa2)])
  })

  it('ends with the other one when its device is revoked', () => {
    const done = revokeDevice(both, keys.phone, now + 900)
    expect(done.grants).toEqual([id(0xa1), id(0xa2)])
    expect(currentGrants(done.record, now + 900)).toEqual([])
  })

  it('ends with the other one when its device is let in afresh', () => {
    const fresh = grantEntry({ grant: id(0xa3), issued_at: now + 900 })
    const after = addGrant(both, fresh, now + 900)
    expect(currentGrants(after, now + 900).map(({ grant }) => grant.grant)).toEqual([id(0xa3)])
    expect(renewalOf(after, id(0xa1), now + 900)).toEqual({ kind: 'none' })
  })

  it('remembers its line, so that it stands for a grant that was dropped long ago', () => {
    const next = { ...grantEntry({ grant: id(0xa3), expires_at: now + 2_600 }), renews: lineAfter(renewal) }
    expect(next.renews).toEqual([id(0xa2), id(0xa1)])
    const dropped = record({ grants: [next] })
    expect(currentInLine(dropped, id(0xa1), now + 2_000)).toEqual([next])
    const long = { ...renewal, renews: Array.from({ length: renewedKeptMax }, () => id(7)) }
    expect(lineAfter(long)).toHaveLength(renewedKeptMax)
  })
})

describe('a recorded sender', () => {
  const sender = { device: keys.phone, grant: id(0xa1), epoch: 0 }
  const rows: [string, AccessRecord, typeof sender | object, number, boolean][] = [
    ['stands under its grant', record({ grants: [old] }), {}, now + 999, true],
    ['falls with its grant', record({ grants: [old] }), {}, now + 1_000, false],
    ['stands across the renewal', both, {}, now + 1_000, true],
    ['stands when the old grant was dropped', record({ grants: [renewal] }), {}, now + 1_500, true],
    ['falls with the renewal', both, {}, now + 1_800, false],
    ['under another epoch does not stand', both, { epoch: 1 }, now + 900, false],
    ['of another device does not stand', both, { device: keys.tablet }, now + 900, false],
    [
      'does not stand under a fresh grant',
      addGrant(record({ grants: [old] }), grantEntry({ grant: id(0xa3) }), now + 5),
      {},
      now + 6,
      false,
    ],
    [
      'without operate does not stand',
      record({ grants: [grantEntry({ rights: ['observe'] })] }),
      {},
      now + 1,
      false,
    ],
    ['without a grant stands when it is the owner', record(), { device: keys.owner, grant: null }, now, true],
    ['without a grant does not stand otherwise', both, { grant: null }, now, false],
  ]
  for (const [name, book, changes, at, stands] of rows) {
    it(name, () => expect(standsNow(book, { ...sender, ...changes }, at)).toBe(stands))
  }
})

describe('a principal that was admitted a moment ago', () => {
  const device: Principal = { kind: 'device', key: keys.phone, entry: old }
  const refused: [string, AccessRecord, number, string][] = [
    ['revoked since', record({ grants: [{ ...old, revoked_at: now }] }), now, 'revoked'],
    ['forgotten since', record(), now, 'revoked'],
    ['expired since', record({ grants: [old] }), now + 1_000, 'expired'],
    [
      'of an earlier epoch by now',
      record({ grants: [old], epochs: [{ device: keys.phone, epoch: 1 }] }),
      now,
      'stale',
    ],
  ]
  for (const [name, book, at, code] of refused) {
    it(`${name} is ${code}`, () => {
      expect(() => requireStanding(book, device, at)).toThrow(expect.objectContaining({ code }))
    })
  }

  it('goes on while its grant does; the owner and the operator always do', () => {
    requireStanding(record({ grants: [old] }), device, now + 999)
    requireStanding(record(), { kind: 'owner', key: keys.owner }, now)
    requireStanding(record(), { kind: 'operator' }, now)
  })
})
