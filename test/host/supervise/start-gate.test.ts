import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { prepareBoundary } from '../../../src/host/boundary/prepare.ts'
import { boundedCommand } from '../../../src/host/supervise/bounded-command.ts'
import type { EngineRun } from '../../../src/host/supervise/engine.ts'
import { livingOf, processIdentitySchema } from '../../../src/host/supervise/process-identity.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { makePlace, type Place, runScript } from '../../support/sandboxed.ts'

let place: Place

beforeEach(() => {
  place = makePlace()
})

afterEach(() => place.remove())

/** A command that has not begun. */
async function heldCommand(wallSeconds = 20): Promise<EngineRun> {
  const program = '/usr/bin/touch'
  const boundary = await prepareBoundary({
    checkout: place.workspace,
    readable: [place.workspace],
    offline: true,
  })
  return boundedCommand(systemClock).start({
    boundary,
    program,
    arguments: ['began'],
    workspace: place.workspace,
    turnFolder: null,
    wallSeconds,
    streamBytes: 1_024,
    memoryBytes: 67_108_864,
  })
}

const hasBegun = () => existsSync(join(place.workspace, 'began'))

describe('a command', () => {
  it('is identified, and held until it is let go', async () => {
    const run = await heldCommand(1)
    if (run.process === null) throw new Error('not started')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    // Its deadline counts from the moment when it begins.
    expect(livingOf(run.process)).not.toEqual([])
    expect(hasBegun()).toBe(false)
    await run.begin()
    expect(await run.ended).toMatchObject({ ending: 'exit 0' })
    expect(hasBegun()).toBe(true)
  })

  it('that is stopped first never begins', async () => {
    const run = await heldCommand()
    run.stop()
    await run.begin()
    expect(await run.ended).toMatchObject({ stop_requested: true, group_clear: true })
    expect(hasBegun()).toBe(false)
  })

  it('sees nothing of what held it', async () => {
    const { output } = await runScript(place, 'ls /proc/self/fd | tr "\\n" " "; /usr/bin/env')
    // The fourth is the listing's own.
    expect(output).toBe(`0 1 2 3 PATH=/usr/bin:/bin:/run/current-system/sw/bin\nPWD=${place.workspace}\n`)
  })
})

describe('an owner that is killed', () => {
  const program = fileURLToPath(new URL('../../fixtures/held-owner.ts', import.meta.url))

  /** Kills an owner `afterMs` after it has a held command, having let it go or not. */
  async function killed(mode: 'held' | 'begun', afterMs: number): Promise<void> {
    const owner = spawn(process.execPath, ['--import', 'tsx', program, mode, place.workspace], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(owner.stdout, 'data')
    const identity = processIdentitySchema.parse(JSON.parse(String(line)))
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    await expect.poll(() => livingOf(identity), { timeout: 5_000, interval: 20 }).toEqual([])
  }

  it('while it holds its command: the command never begins, and nothing is left', async () => {
    for (const afterMs of [0, 0, 0, 5]) await killed('held', afterMs)
    expect(readdirSync(place.workspace)).toEqual([])
  })

  it('at any moment after it let it go: nothing is left', async () => {
    for (const afterMs of [0, 0, 1, 20]) await killed('begun', afterMs)
  })
})
