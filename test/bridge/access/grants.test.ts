import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addGrant,
  currentGrants,
  deviceHolds,
  epochOf,
  grantState,
  prune,
} from '../../../src/bridge/access/grants.ts'
import { type AccessRecord, accessRecord } from '../../../src/bridge/access/record.ts'
import { revokeDevice } from '../../../src/bridge/access/revoke.ts'
import { epochsMax, grantsMax } from '../../../src/limits.ts'
import { grantEntry, id, invitationEntry, keys, now, record, someEvent } from '../../support/access.ts'

describe('grants', () => {
  it('a grant is expired at its expiry, not one second before', () => {
    const entry = grantEntry({ expires_at: now + 10 })
    expect(grantState(entry, now + 9)).toBe('active')
    expect(grantState(entry, now + 10)).toBe('expired')
    expect(grantState(grantEntry({ revoked_at: now }), now)).toBe('revoked')
  })

  it('a new grant supersedes the old one of its device and leaves the epoch', () => {
    const before = record({ grants: [grantEntry()], epochs: [{ device: keys.phone, epoch: 3 }] })
    const after = addGrant(before, grantEntry({ grant: id(0xa2), epoch: 3 }), now)
    expect(after.grants.map((entry) => [entry.grant.grant, grantState(entry, now)])).toEqual([
      [id(0xa1), 'revoked'],
      [id(0xa2), 'active'],
    ])
    expect(epochOf(after, keys.phone)).toBe(3)
  })

  it('another device keeps its grant', () => {
    const tablet = grantEntry({ grant: id(0xa2), device: keys.tablet })
    const after = addGrant(record({ grants: [tablet] }), grantEntry(), now)
    expect(currentGrants(after, now)).toHaveLength(2)
  })

  it('only a grant of the current epoch is current', () => {
    const stale = record({ grants: [grantEntry()], epochs: [{ device: keys.phone, epoch: 1 }] })
    expect(currentGrants(stale, now)).toEqual([])
    expect(deviceHolds(stale, keys.phone, 'observe', now)).toBe(false)
    const current = record({ grants: [grantEntry()] })
    expect(deviceHolds(current, keys.phone, 'observe', now)).toBe(true)
    expect(deviceHolds(current, keys.phone, 'review', now)).toBe(false)
    expect(deviceHolds(current, keys.tablet, 'observe', now)).toBe(false)
  })

  it('a full book drops the grant that is longest dead', () => {
    const grants = Array.from({ length: grantsMax }, (_, index) =>
      grantEntry({
        grant: index.toString(16).padStart(64, '0'),
        device: keys.tablet,
        expires_at: now + 1000,
      }),
    )
    const first = grants[5]
    const second = grants[9]
    if (first === undefined || second === undefined) throw new Error('no grants')
    grants[5] = { ...first, revoked_at: now - 10 }
    grants[9] = { ...second, revoked_at: now - 20 }
    const after = addGrant(record({ grants }), grantEntry(), now)
    expect(after.grants).toHaveLength(grantsMax)
    expect(after.grants.some((entry) => entry.grant.grant === second.grant.grant)).toBe(false)
    expect(after.grants.some((entry) => entry.grant.grant === first.grant.grant)).toBe(true)
  })

  it('a book full of living grants refuses bounds', () => {
    const grants = Array.from({ length: grantsMax }, (_, index) =>
      grantEntry({ grant: index.toString(16).padStart(64, '0'), device: keys.tablet }),
    )
    expect(() => addGrant(record({ grants }), grantEntry(), now)).toThrow(
      expect.objectContaining({ code: 'bounds' }),
    )
  })

  it('an epoch is kept for every device, so that it can always be revoked', () => {
    const epochs = Array.from({ length: epochsMax }, (_, index) => ({
      device: index.toString(16).padStart(64, '0'),
      epoch: 1,
    }))
    expect(() => addGrant(record({ epochs }), grantEntry(), now)).toThrow(
      expect.objectContaining({ code: 'bounds' }),
    )
  })
})

describe('pruning', () => {
  it('drops dead records a minute after their expiry', () => {
    const full = record({
      grants: [grantEntry({ expires_at: now + 100 })],
      invitations: [invitationEntry({ expires_at: now + 100 })],
    })
    const kept = prune(full, now + 159)
    expect([kept.grants.length, kept.invitations.length]).toEqual([1, 1])
    const gone = prune(full, now + 160)
    expect([gone.grants.length, gone.invitations.length]).toEqual([0, 0])
  })

  it('never resets an epoch that was raised', () => {
    const full = record({
      epochs: [
        { device: keys.phone, epoch: 2 },
        { device: keys.tablet, epoch: 0 },
      ],
    })
    expect(prune(full, now).epochs).toEqual([{ device: keys.phone, epoch: 2 }])
  })
})

describe('revocation', () => {
  it('ends every grant, drops the answers that carry them and raises the epoch, in one record', () => {
    const reply = {
      request: id(1),
      request_event: id(2),
      signer: keys.phone,
      expires_at: now + 60,
      reply: someEvent(3),
    }
    const before = record({
      grants: [grantEntry(), grantEntry({ grant: id(0xa2), device: keys.tablet })],
      invitations: [invitationEntry({ replies: [reply, { ...reply, signer: keys.tablet }] })],
    })
    const done = revokeDevice(before, keys.phone, now)
    expect(done).toMatchObject({ device: keys.phone, epoch: 1, grants: [id(0xa1)] })
    expect(currentGrants(done.record, now).map((entry) => entry.grant.device)).toEqual([keys.tablet])
    expect(done.record.invitations[0]?.replies.map((kept) => kept.signer)).toEqual([keys.tablet])
    expect(epochOf(done.record, keys.phone)).toBe(1)
  })

  it('again raises the epoch again and names no grant', () => {
    const once = revokeDevice(record({ grants: [grantEntry()] }), keys.phone, now)
    expect(revokeDevice(once.record, keys.phone, now)).toMatchObject({ epoch: 2, grants: [] })
  })

  it('refuses forbidden for a device that was never granted anything', () => {
    expect(() => revokeDevice(record(), keys.phone, now)).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    )
  })
})

interface Step {
  readonly device: string
  readonly revoke: boolean
  readonly wait: number
  readonly lives: number
}

function taken(book: AccessRecord, step: Step, index: number, time: number): AccessRecord {
  const { device, revoke, lives } = step
  const known = book.epochs.some((entry) => entry.device === device)
  if (revoke) return known ? revokeDevice(book, device, time).record : book
  const epoch = epochOf(book, device)
  const grant = index.toString(16).padStart(64, '0')
  return addGrant(book, grantEntry({ grant, device, epoch, issued_at: time, expires_at: time + lives }), time)
}

describe('any order of grants and revocations', () => {
  it('leaves at most one current grant a device, a book that reads, and epochs that only rise', () => {
    const devices = [keys.phone, keys.tablet, keys.stranger]
    const step: fc.Arbitrary<Step> = fc.record({
      device: fc.constantFrom(...devices),
      revoke: fc.boolean(),
      wait: fc.integer({ min: 0, max: 5_000 }),
      lives: fc.integer({ min: 1, max: 4_000 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let book = record()
        let time = now
        for (const [index, one] of steps.entries()) {
          time += one.wait
          const before = prune(book, time)
          book = taken(before, one, index, time)
          for (const device of devices) {
            const current = currentGrants(book, time).filter((entry) => entry.grant.device === device)
            expect(current.length).toBeLessThanOrEqual(1)
            expect(epochOf(book, device)).toBeGreaterThanOrEqual(epochOf(before, device))
          }
          expect(accessRecord.safeParse(book).success).toBe(true)
        }
      }),
    )
  })
})
