import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { prepareBoundary } from '../../../src/host/boundary/prepare.ts'
import { boundedCommand } from '../../../src/host/supervise/bounded-command.ts'
import type { EngineRun } from '../../../src/host/supervise/engine.ts'
import { descendantsOf, readStat } from '../../../src/host/supervise/proc.ts'
import { isAlive, livingOf, namespaceMembers } from '../../../src/host/supervise/process-identity.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { makePlace, type Place, runScript, startScript } from '../../support/sandboxed.ts'

let place: Place

beforeEach(() => {
  place = makePlace()
})

afterEach(() => {
  place.remove()
})

/** Resolves once the run has written something. */
function spoken(run: EngineRun): Promise<string> {
  return new Promise((resolve) => {
    run.onOutput(() => {
      const taken = run.take()
      if (taken !== null) resolve(Buffer.from(taken.bytes).toString())
    })
  })
}

function namespaceOf(run: EngineRun): number {
  const namespace = run.process?.pid_namespace
  if (typeof namespace !== 'number') throw new Error('no namespace')
  return namespace
}

describe('an ending', () => {
  it.each([0, 1, 7, 255])('is exit %i, as the command exits', async (code) => {
    const end = await runScript(place, `exit ${code}`)
    expect(end).toMatchObject({
      ending: `exit ${code}`,
      exit_code: code,
      stop_requested: false,
      group_clear: true,
    })
    expect(end.memory_exceeded).toBe(false)
  })

  it('is exit 137 for a command that kills itself', async () => {
    expect(await runScript(place, 'kill -9 $$')).toMatchObject({ ending: 'exit 137', exit_code: 137 })
  })

  it('is a signal when the boundary itself is killed', async () => {
    const run = await startScript(place, 'echo up; exec sleep 30')
    await spoken(run)
    process.kill(run.process?.pid ?? 0, 'SIGKILL')
    expect(await run.ended).toMatchObject({
      ending: 'stopped by a signal',
      exit_code: null,
      stop_requested: false,
      group_clear: true,
    })
  })

  it('is timed out at the deadline, and nobody asked for it', async () => {
    const end = await runScript(place, 'exec sleep 30', { wallSeconds: 1 })
    expect(end).toMatchObject({
      ending: 'timed out',
      exit_code: null,
      stop_requested: false,
      group_clear: true,
    })
    expect(end.elapsed_ms).toBeGreaterThanOrEqual(1_000)
    expect(end.elapsed_ms).toBeLessThan(3_000)
  })

  it('says why when a program cannot be executed', async () => {
    const program = join(place.workspace, 'program')
    writeFileSync(program, 'not a program', { mode: 0o644 })
    expect(await runScript(place, '', { program })).toMatchObject({ ending: 'exit 126' })
  })

  it('says why when the boundary cannot be set up', async () => {
    const boundary = await prepareBoundary({ readable: [place.workspace], offline: true })
    rmSync(place.workspace, { recursive: true })
    const run = await boundedCommand(systemClock).start({
      boundary,
      program: '/usr/bin/true',
      arguments: [],
      workspace: place.workspace,
      turnFolder: null,
      wallSeconds: 5,
      streamBytes: 1_024,
      memoryBytes: 67_108_864,
    })
    const end = await run.ended
    expect(end.ending).toMatch(/^failed: the boundary could not be set up: bwrap: /)
    expect(end).toMatchObject({ exit_code: null, stop_requested: false, group_clear: true })
  })

  it('says why when the boundary program cannot be started', async () => {
    const boundary = await prepareBoundary({ readable: [place.workspace], offline: true })
    const run = await boundedCommand(systemClock).start({
      boundary: { ...boundary, program: '/nonexistent/bwrap' },
      program: '/usr/bin/true',
      arguments: [],
      workspace: place.workspace,
      turnFolder: null,
      wallSeconds: 5,
      streamBytes: 1_024,
      memoryBytes: 67_108_864,
    })
    expect(run.process).toBeNull()
    expect(await run.ended).toMatchObject({
      ending: 'failed: the boundary could not be started (ENOENT)',
      group_clear: true,
    })
  })
})

describe('a stop', () => {
  it('tells how the command really ended, when it ends on SIGTERM', async () => {
    const run = await startScript(
      place,
      'trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.05; done',
    )
    await spoken(run)
    run.stop()
    const end = await run.ended
    expect(end).toMatchObject({ ending: 'exit 3', exit_code: 3, stop_requested: true, group_clear: true })
  })

  it('kills a command that ignores SIGTERM, after 250 ms', async () => {
    const run = await startScript(place, 'trap "" TERM; echo up; while :; do sleep 0.05; done')
    await spoken(run)
    const asked = Date.now()
    run.stop()
    run.stop()
    const end = await run.ended
    expect(end).toMatchObject({
      ending: 'stopped by a signal',
      exit_code: null,
      stop_requested: true,
      group_clear: true,
    })
    expect(Date.now() - asked).toBeGreaterThanOrEqual(240)
    expect(Date.now() - asked).toBeLessThan(2_500)
  })

  it('after the end changes nothing', async () => {
    const run = await startScript(place, 'exit 0')
    await run.ended
    run.stop()
    expect((await run.ended).stop_requested).toBe(false)
  })
})

describe('what a command leaves behind', () => {
  it('is ended with it: children in sessions of their own, double forks, nohup', async () => {
    const run = await startScript(
      place,
      'setsid sleep 60 & (setsid sh -c "sleep 60 & sleep 60" &) ; nohup sleep 60 >/dev/null 2>&1 & echo up; sleep 0.3; exit 0',
    )
    await spoken(run)
    const namespace = namespaceOf(run)
    expect(namespaceMembers(namespace).length).toBeGreaterThan(3)
    const end = await run.ended
    expect(end).toMatchObject({ ending: 'exit 0', group_clear: true })
    expect(namespaceMembers(namespace)).toEqual([])
    expect(run.process === null ? [] : livingOf(run.process)).toEqual([])
  })

  it('is ended with it although it ignores every signal and holds the pipes', async () => {
    const end = await runScript(place, '(trap "" TERM HUP INT; setsid sleep 60) & echo up; exit 4')
    expect(end).toMatchObject({ ending: 'exit 4', group_clear: true, output: 'up\n' })
    expect(end.elapsed_ms).toBeLessThan(5_000)
  })

  it('is ended when it is stopped two levels deep', async () => {
    const run = await startScript(
      place,
      'sh -c "setsid sh -c \\"trap : TERM; echo up; while :; do sleep 1; done\\"" & wait',
    )
    await spoken(run)
    const namespace = namespaceOf(run)
    run.stop()
    expect((await run.ended).group_clear).toBe(true)
    expect(namespaceMembers(namespace)).toEqual([])
  })
})

describe('the identity of a run', () => {
  it('names the living boundary, its start, the boot and the namespace of the command', async () => {
    const run = await startScript(place, 'echo up; exec sleep 30')
    await spoken(run)
    const { process: identity } = run
    if (identity === null) throw new Error('not started')
    expect(isAlive(identity)).toBe(true)
    expect(readStat(identity.pid)?.group).toBe(identity.pid)
    expect(identity.boot_id).toBe(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
    for (const pid of descendantsOf(identity.pid)) {
      expect(readlinkSync(`/proc/${pid}/ns/pid`)).toBe(`pid:[${identity.pid_namespace}]`)
    }
    expect(livingOf(identity)).toEqual([identity.pid, ...descendantsOf(identity.pid)].sort((a, b) => a - b))
    expect(isAlive({ ...identity, start_ticks: identity.start_ticks + 1 })).toBe(false)
    expect(isAlive({ ...identity, boot_id: 'another' })).toBe(false)
    expect(livingOf({ ...identity, boot_id: 'another' })).toEqual([])
    run.stop()
    await run.ended
    expect(isAlive(identity)).toBe(false)
  })

  it('is whole even for commands that end at once, many at a time', async () => {
    const all = await Promise.all(Array.from({ length: 24 }, () => startScript(place, ':')))
    for (const run of all) {
      expect(run.process?.pid_namespace).toEqual(expect.any(Number))
      expect(await run.ended).toMatchObject({ ending: 'exit 0', group_clear: true })
    }
  })

  it('does not take another run in a reused namespace number for its own', async () => {
    const run = await startScript(place, 'echo up; exec sleep 30')
    await spoken(run)
    const { process: identity } = run
    if (identity === null) throw new Error('not started')
    // An earlier run with the same namespace number, whose boundary is long gone.
    expect(livingOf({ ...identity, pid: 2 ** 22 + 1, start_ticks: 1 })).toEqual([])
    expect(livingOf({ ...identity, start_ticks: identity.start_ticks - 1 })).toEqual([])
    run.stop()
    await run.ended
  })
})

it('leaves no descriptor open behind it', async () => {
  await runScript(place, ':')
  const before = readdirSync('/proc/self/fd').length
  for (let round = 0; round < 3; round += 1) await runScript(place, 'echo x')
  expect(readdirSync('/proc/self/fd').length).toBe(before)
})
