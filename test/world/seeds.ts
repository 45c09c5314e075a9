import { appendFileSync } from 'node:fs'
import { expect } from 'vitest'
import { invariants } from './invariants.ts'
import { run } from './run.ts'
import { printed, shrink } from './shrink.ts'
import { scheduleOf } from './steps.ts'
import { createTally, pointsOf } from './tally.ts'

/** How many seeds there are in all, and the first. DRAWBRIDGE_WORLD_SEEDS and DRAWBRIDGE_WORLD_FIRST change them. */
const count = Number(process.env['DRAWBRIDGE_WORLD_SEEDS'] ?? 2_000)
const first = Number(process.env['DRAWBRIDGE_WORLD_FIRST'] ?? 1)
const report = process.env['DRAWBRIDGE_WORLD_REPORT'] ?? ''

/** Longer than the largest count takes on a slow machine. */
export const seedsTimeoutMs = 14_400_000

/**
 * Plays every other seed and fails at the first in which something is not as it should be, with the fewest steps that
 * still come to it. What was reached goes to DRAWBRIDGE_WORLD_REPORT, for `scripts/world-points`.
 */
export async function playSeeds(half: 0 | 1): Promise<void> {
  const tally = createTally()
  for (let seed = first + half; seed < first + count; seed += 2) {
    const schedule = scheduleOf(seed)
    const violation = await run(schedule, tally).catch((cause: unknown) => {
      throw new Error(`seed ${seed} could not be played`, { cause })
    })
    tally.count('seeds')
    if (violation !== null) expect.unreachable(printed(await shrink(schedule, violation)))
  }
  if (report === '') return
  const counts = Object.fromEntries(tally.counts)
  appendFileSync(report, `${JSON.stringify({ seeds: count, points: pointsOf(invariants), counts })}\n`)
}
