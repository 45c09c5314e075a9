import { run } from './run.ts'
import type { Schedule, Step } from './steps.ts'
import { createTally } from './tally.ts'
import type { Sabotage, Violation } from './world.ts'

/** The fewest steps found that still come to the same violation, and what it says then. */
export interface Shrunk {
  readonly schedule: Schedule
  readonly violation: Violation
}

/** Leaves out steps, first many at a time and then one by one, as long as the same invariant is broken. */
export async function shrink(
  schedule: Schedule,
  violation: Violation,
  sabotage: Sabotage = {},
): Promise<Shrunk> {
  let best: Shrunk = { schedule, violation }
  for (let size = Math.ceil(schedule.steps.length / 2); size >= 1; ) {
    const shorter = await withoutSome(best, size, sabotage)
    if (shorter === null) size = size === 1 ? 0 : Math.floor(size / 2)
    else best = shorter
  }
  return best
}

async function withoutSome({ schedule, violation }: Shrunk, size: number, sabotage: Sabotage) {
  const { seed, steps } = schedule
  for (let from = 0; from < steps.length; from += size) {
    const fewer = { seed, steps: [...steps.slice(0, from), ...steps.slice(from + size)] }
    const found = await run(fewer, createTally(), sabotage)
    if (found?.invariant === violation.invariant) return { schedule: fewer, violation: found }
  }
  return null
}

/** A schedule as it can be put into `schedules.ts`, a step a line. */
export function printed({ schedule, violation }: Shrunk): string {
  const line = (step: Step) => `    ${JSON.stringify(step)},`
  const lines = schedule.steps.map(line).join('\n')
  return `${violation.invariant}: ${violation.detail}\n  {\n   seed: ${schedule.seed},\n   steps: [\n${lines}\n   ],\n  }`
}
