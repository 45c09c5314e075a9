import { describe, expect, it } from 'vitest'
import { run } from './run.ts'
import { found } from './schedules.ts'
import { shrink } from './shrink.ts'
import { scheduleOf } from './steps.ts'
import { createTally } from './tally.ts'

describe('a schedule that was found', () => {
  for (const { was, schedule } of found) {
    it(`keeps every invariant: ${was}`, async () => {
      expect(await run(schedule, createTally())).toBeNull()
    })
  }
})

describe('shrinking', () => {
  it('leaves the steps that it takes to break the invariant, and no others', async () => {
    const sabotage = { standing: () => true }
    const schedule = scheduleOf(await firstSeed(sabotage))
    const violation = await run(schedule, createTally(), sabotage)
    if (violation === null) return expect.unreachable('it is the seed that was found')
    const shrunk = await shrink(schedule, violation, sabotage)
    expect(shrunk.schedule.steps.length).toBeLessThan(schedule.steps.length)
    expect(await run(shrunk.schedule, createTally(), sabotage)).toEqual(shrunk.violation)
    for (const [index] of shrunk.schedule.steps.entries()) {
      const steps = shrunk.schedule.steps.filter((_, at) => at !== index)
      const without = await run({ ...shrunk.schedule, steps }, createTally(), sabotage)
      expect(without?.invariant).not.toBe(violation.invariant)
    }
  })

  it('plays the same seed the same way', async () => {
    expect(scheduleOf(12)).toEqual(scheduleOf(12))
    const [one, other] = [createTally(), createTally()]
    await run(scheduleOf(12), one)
    await run(scheduleOf(12), other)
    expect(one.counts).toEqual(other.counts)
  })
})

async function firstSeed(sabotage: { standing: () => boolean }): Promise<number> {
  for (let seed = 1; ; seed += 1) {
    if ((await run(scheduleOf(seed), createTally(), sabotage)) !== null) return seed
  }
}
