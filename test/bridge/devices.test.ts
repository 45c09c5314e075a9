import { describe, expect, it } from 'vitest'
import { listDevices } from '../../src/bridge/operations/devices.ts'
import { deviceEntrySchema } from '../../src/protocol/outcomes.ts'
import { grantEntry, id, keys, now, record } from '../support/access.ts'

const approval = { kind: 'approval', id: id(0xe1), issuer: keys.owner } as const
const old = grantEntry({ expires_at: now + 1_000 })
const renewal = {
  ...grantEntry({ grant: id(0xa2), issued_at: now + 800, expires_at: now + 1_800 }),
  renews: [id(0xa1)],
}
const approved = grantEntry({
  grant: id(0xa3),
  device: keys.tablet,
  origin: approval,
  issued_at: now - 100,
  expires_at: now + 700,
})
const superseded = grantEntry({
  grant: id(0xa4),
  device: keys.tablet,
  issued_at: now - 200,
  revoked_at: now - 100,
})
const book = record({ grants: [superseded, approved, old, renewal] })
const shown = (at: number) =>
  listDevices(book, at).map(({ grant, origin, state }) => `${grant.slice(0, 2)} ${origin} ${state}`)

describe('the list of devices', () => {
  it('has a renewal and what it renews while both live, an approval as such, and the dead last', () => {
    expect(shown(now + 650)).toEqual([
      'a2 invitation active',
      'a1 invitation active',
      'a3 approval active',
      'a4 invitation revoked',
    ])
    expect(shown(now + 1_200)).toEqual([
      'a2 invitation active',
      'a1 invitation expired',
      'a3 approval expired',
      'a4 invitation revoked',
    ])
  })

  it('says when each grant was heard, by what is known and then by what is kept', () => {
    const kept = record({ grants: [{ ...old, last_seen: now + 3 }, renewal] })
    const known = (grant: string) => (grant === id(0xa2) ? now + 810 : null)
    expect(listDevices(kept, now + 820, known).map(({ last_seen }) => last_seen)).toEqual([
      now + 810,
      now + 3,
    ])
  })

  it('tells nothing else of a grant', () => {
    for (const entry of listDevices(book, now + 650)) expect(deviceEntrySchema.parse(entry)).toEqual(entry)
  })
})
