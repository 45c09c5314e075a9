import { describe, expect, it } from 'vitest'
import { currentGrants } from '../../src/bridge/access/grants.ts'
import { silentLog } from '../../src/bridge/log.ts'
import { approveEnrollment, refuseEnrollment } from '../../src/bridge/operations/enrollments.ts'
import { createRenewals, type Renewals } from '../../src/bridge/renewals.ts'
import { renewalRetrySeconds } from '../../src/limits.ts'
import { grantEntry, id, now } from '../support/access.ts'
import { type AccessDesk, accessDesk, approvalOf, asOwner } from '../support/access-desk.ts'
import { dice } from '../support/dice.ts'

const old = grantEntry({ expires_at: now + 1_000 })
/** More disk calls than any of these changes makes, so that the last rounds see it done. */
const callsMax = 9
const seeds = [1, 2, 3, 4]

/** What one change leaves at every point at which its process can die, for several turns of chance. */
async function crashing(round: (desk: AccessDesk, crash: () => Promise<void>) => Promise<boolean>) {
  const came = new Set<boolean>()
  for (const seed of seeds) {
    for (let calls = 1; calls <= callsMax; calls += 1) {
      const desk = await accessDesk(dice(seed * 100 + calls).next)
      const crash = async () => {
        await desk.machine.crashAfter(calls)
      }
      came.add(await round(desk, crash))
    }
  }
  expect([...came].sort()).toEqual([false, true])
}

/** Resolves when `work` ended or the process died, whichever comes first. */
const either = (work: Promise<unknown>, died: Promise<void>) =>
  Promise.race([work.catch(() => undefined), died])

describe('a crash while the access book is written', () => {
  it('leaves an approval done or not begun, and a retry gives the one grant', async () => {
    await crashing(async (desk, crash) => {
      const made = await desk.request()
      const op = approvalOf(made, desk.clock)
      await either(approveEnrollment(desk.context(), asOwner, op), crash())
      await desk.restart()
      const { grants, enrollments } = desk.book().read()
      const kept = grants[0]?.authorization
      expect(enrollments[0]?.approved?.grant).toBe(grants[0]?.grant.grant)
      const again = await approveEnrollment(desk.context(), asOwner, op)
      if (kept !== undefined) expect(again).toEqual(kept)
      expect(await approveEnrollment(desk.context(), asOwner, op)).toEqual(again)
      expect(desk.book().read().grants).toHaveLength(1)
      return kept !== undefined
    })
  })

  it('leaves a denial done or not begun', async () => {
    await crashing(async (desk, crash) => {
      const made = await desk.request()
      const deny = { ...approvalOf(made, desk.clock), kind: 'enroll.deny' } as const
      await either(refuseEnrollment(desk.context(), asOwner, deny), crash())
      await desk.restart()
      const denied = desk.book().read().enrollments[0]?.denied_at === now
      await refuseEnrollment(desk.context(), asOwner, deny)
      expect(desk.book().read().enrollments[0]?.denied_at).toBe(now)
      return denied
    })
  })

  it('counts a wrong code once or not at all', async () => {
    await crashing(async (desk, crash) => {
      const made = await desk.request()
      const op = approvalOf(made, desk.clock, { code: 'NO' })
      await either(approveEnrollment(desk.context(), asOwner, op), crash())
      await desk.restart()
      const attempts = desk.book().read().enrollments[0]?.attempts ?? -1
      expect([0, 1]).toContain(attempts)
      return attempts === 1
    })
  })

  it('leaves a grant with one renewal or none, and the next word of its device with one', async () => {
    await crashing(async (desk, crash) => {
      await desk.hold(old)
      await desk.clock.advance(900_000)
      await either(renewing(desk).hear(), crash())
      await desk.restart()
      const kept = desk.book().read().grants.slice(1)
      expect(kept.length).toBeLessThanOrEqual(1)
      const after = renewing(desk)
      await after.hear()
      const [, renewal] = desk.book().read().grants
      if (kept[0] !== undefined) expect(renewal).toEqual(kept[0])
      expect(desk.published.at(-1)?.event).toEqual(renewal?.authorization)
      expect(currentGrants(desk.book().read(), now + 900)).toHaveLength(2)
      return kept.length === 1
    })
  })
})

describe('a write whose fate is unknown', () => {
  for (const fate of ['failed', 'doubtful'] as const) {
    it(`(${fate}) fails the approval, and a retry gives one grant`, async () => {
      const desk = await accessDesk()
      const made = await desk.request()
      const op = approvalOf(made, desk.clock)
      desk.machine.fate = (change) => (change === 'replace' ? fate : 'done')
      await expect(approveEnrollment(desk.context(), asOwner, op)).rejects.toMatchObject({ code: 'io' })
      desk.machine.fate = () => 'done'
      const kept = desk.book().read().grants[0]?.authorization
      expect(kept === undefined).toBe(fate === 'failed')
      const again = await approveEnrollment(desk.context(), asOwner, op)
      if (kept !== undefined) expect(again).toEqual(kept)
      expect(desk.book().read().grants).toHaveLength(1)
    })

    it(`(${fate}) tells no renewal, and the device's next word does`, async () => {
      const desk = await accessDesk()
      await desk.hold(old)
      await desk.clock.advance(900_000)
      const renewals = renewing(desk)
      desk.machine.fate = (change) => (change === 'replace' ? fate : 'done')
      await renewals.hear()
      expect(desk.published).toEqual([])
      desk.machine.fate = () => 'done'
      await desk.clock.advance(renewalRetrySeconds * 1000)
      await renewals.hear()
      expect(desk.published.map(({ event }) => event)).toEqual([desk.book().read().grants[1]?.authorization])
    })
  }
})

function renewing(desk: AccessDesk): Renewals & { hear(): Promise<void> } {
  const renewals = createRenewals(desk.context(), silentLog)
  return {
    ...renewals,
    hear() {
      renewals.heard(id(0xa1))
      return renewals.close()
    },
  }
}
