import { readFile } from 'node:fs/promises'
import { execa } from 'execa'
import { program, programOptions } from '../../support/door.ts'
import { durableCalls, type Point } from '../sweep/calls.ts'
import { type Fault, inject, isHit } from '../sweep/traced.ts'
import type { Scenario } from './scenarios.ts'

/** How a command ended. */
export interface Ran {
  /** Undefined when it was killed. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

export interface Traced extends Ran {
  /** What strace wrote. */
  readonly log: string
  /** Whether the call that was to fail was made. */
  readonly wasHit: boolean
}

/** Where a run plays: a folder with the store in it. */
export interface Ground {
  readonly base: string
  readonly store: string
  readonly log: string
}

/** Runs the real command of a scenario under strace, with one fault in it if one is given. */
export async function runTraced(
  scenario: Scenario,
  ground: Ground,
  at?: { point: Point; fault: Fault },
): Promise<Traced> {
  const watching = at === undefined ? ['-e', `trace=${durableCalls.join(',')}`] : inject(ground.base, at)
  const strace = ['strace', '-f', '-y', '-q', '-e', 'signal=none', '-o', ground.log, ...watching]
  const ended = await runCommand(scenario, ground, strace)
  const log = await readFile(ground.log, 'utf8')
  return { ...ended, log, wasHit: at !== undefined && isHit(log, at.fault) }
}

/** Runs the real command of a scenario, after the words of `through` if there are any. */
export async function runCommand(
  scenario: Scenario,
  { base, store }: Ground,
  through: readonly string[] = [],
): Promise<Ran> {
  const words = [...through, process.execPath, program, 'task', ...scenario.words, '--store', store]
  const { env, ...options } = programOptions(base)
  const [first, ...rest] = words as [string, ...string[]]
  const { exitCode, stdout, stderr } = await execa(first, rest, {
    ...options,
    env: { ...env, UV_THREADPOOL_SIZE: '1' },
    input: scenario.input,
  })
  return { code: exitCode, stdout, stderr }
}
