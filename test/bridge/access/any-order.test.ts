import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { currentGrants, epochOf, grantState, prune } from '../../../src/bridge/access/grants.ts'
import { principalOf, standsNow } from '../../../src/bridge/access/principal.ts'
import { type AccessRecord, accessRecord } from '../../../src/bridge/access/record.ts'
import {
  deadRecordSeconds,
  enrollmentsMax,
  epochsMax,
  grantsMax,
  invitationsMax,
} from '../../../src/limits.ts'
import { keys } from '../../support/access.ts'
import { accessSteps, cast, live, newLife } from '../../support/access-life.ts'
import { fuzzRuns } from '../../support/fuzz-runs.ts'

describe('a book through any order of invitations, enrollments, renewals, revocations and time', () => {
  it('keeps its bounds, one line of grants a device, what has ended ended, and epochs that only rise', () => {
    const reached = new Set<string>()
    fc.assert(
      fc.property(accessSteps, (steps) => {
        const life = newLife()
        const ended = new Set<string>()
        const epochs = new Map<string, number>()
        for (const step of steps) {
          live(life, step)
          checkBounds(life.book)
          checkLines(life.book, life.now)
          checkTime(life.book, life.now)
          for (const entry of life.book.grants) {
            const { grant } = entry.grant
            if (grantState(entry, life.now) !== 'active') ended.add(grant)
            else expect(ended).not.toContain(grant)
          }
          for (const device of cast) {
            expect(epochOf(life.book, device)).toBeGreaterThanOrEqual(epochs.get(device) ?? 0)
            epochs.set(device, epochOf(life.book, device))
          }
          note(reached, life.book)
        }
        const text = JSON.stringify(life.book)
        expect(accessRecord.parse(JSON.parse(text))).toEqual(life.book)
        expect(prune(life.book, life.now)).toBe(life.book)
      }),
      { numRuns: fuzzRuns(60), seed: 20_261 },
    )
    const all = ['approved', 'closed', 'denied', 'epoch', 'full', 'redeemed', 'renewed', 'renewed again']
    expect([...reached].sort()).toEqual(all)
  })
})

function checkBounds({ grants, invitations, enrollments, epochs }: AccessRecord): void {
  expect(grants.length).toBeLessThanOrEqual(grantsMax)
  expect(invitations.length).toBeLessThanOrEqual(invitationsMax)
  expect(enrollments.length).toBeLessThanOrEqual(enrollmentsMax)
  expect(epochs.length).toBeLessThanOrEqual(epochsMax)
  expect(new Set(grants.map(({ grant }) => grant.grant)).size).toBe(grants.length)
  expect(new Set(epochs.map(({ device }) => device)).size).toBe(epochs.length)
}

/** Each device has one line: at most one current grant that renews nothing, and its newest renews the others. */
function checkLines(book: AccessRecord, now: number): void {
  for (const device of cast) {
    const current = currentGrants(book, now).filter(({ grant }) => grant.device === device)
    expect(current.filter(({ renews }) => renews.length === 0).length).toBeLessThanOrEqual(1)
    const [newest, ...older] = current
    for (const { grant, renews } of current) {
      if (renews.length > 0) expect([keys.host, keys.owner]).toContain(grant.origin.issuer)
      const claim = {
        signer: device,
        grant: grant.grant,
        epoch: grant.epoch,
        issued_at: now,
        expires_at: now,
      }
      expect(principalOf(book, claim, now)).toMatchObject({ kind: 'device', entry: { grant } })
      const stands = standsNow(book, { device, grant: grant.grant, epoch: grant.epoch }, now)
      expect(stands).toBe(grant.rights.includes('operate'))
    }
    for (const { grant } of older) expect(newest?.renews).toContain(grant.grant)
  }
}

function checkTime({ grants, invitations, enrollments }: AccessRecord, now: number): void {
  const expiries = [
    ...grants.map(({ grant }) => grant.expires_at),
    ...invitations.map(({ expires_at }) => expires_at),
    ...enrollments.map(({ request }) => request.expires_at),
  ]
  for (const expires_at of expiries) expect(expires_at + deadRecordSeconds).toBeGreaterThan(now)
}

/** What the walks came past, so that none of it is missing by accident. */
function note(reached: Set<string>, { grants, invitations, enrollments, epochs }: AccessRecord): void {
  if (grants.length === grantsMax) reached.add('full')
  if (grants.some(({ renews }) => renews.length === 1)) reached.add('renewed')
  if (grants.some(({ renews }) => renews.length > 1)) reached.add('renewed again')
  if (invitations.some(({ redeemed }) => redeemed !== null)) reached.add('redeemed')
  if (enrollments.some(({ approved }) => approved !== null)) reached.add('approved')
  if (enrollments.some(({ denied_at }) => denied_at !== null)) reached.add('denied')
  if (enrollments.some(({ closed_at }) => closed_at !== null)) reached.add('closed')
  if (epochs.some(({ epoch }) => epoch > 1)) reached.add('epoch')
}
