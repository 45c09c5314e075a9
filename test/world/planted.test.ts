import { describe, expect, it } from 'vitest'
import { invariants } from './invariants.ts'
import { type Planted, planted } from './planted.ts'
import { run } from './run.ts'
import { scheduleOf } from './steps.ts'
import { createTally } from './tally.ts'

const seedsMax = 400

describe('a fault put into the host on purpose', () => {
  for (const fault of planted) {
    it(`${fault.fault} is noticed: ${fault.invariant}`, async () => {
      expect(await firstSeed(fault)).toBeLessThanOrEqual(seedsMax)
    }, 120_000)
  }

  it('there is one for every invariant', () => {
    const noticed = new Set(planted.map(({ invariant }) => invariant))
    expect(invariants.filter((invariant) => !noticed.has(invariant))).toEqual([])
  })
})

/** The first seed in which the invariant is broken. */
async function firstSeed({ invariant, sabotage }: Planted): Promise<number> {
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const found = await run(scheduleOf(seed), createTally(), { ...sabotage(), looksFor: invariant })
    if (found !== null) return seed
  }
  return Number.POSITIVE_INFINITY
}
