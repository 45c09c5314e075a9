import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recover } from '../../src/host/recover.ts'
import { settle } from '../../src/host/settle.ts'
import { type StartDeps, startTask } from '../../src/host/start.ts'
import { createLauncher } from '../../src/host/supervise/launch-owner.ts'
import { livingOf } from '../../src/host/supervise/process-identity.ts'
import { readProcessFile } from '../../src/host/turn-files.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { grantBytes, shellTerms } from '../support/host-stage.ts'
import { type OwnerStage, ownerStage } from '../support/owner-stage.ts'
import { until } from '../support/until.ts'

const ownerEntry = new URL('../fixtures/owner.mjs', import.meta.url).pathname

function startDeps(stage: OwnerStage): StartDeps {
  const launcher = createLauncher({ home: stage.home, allowRoot: true, entry: ownerEntry })
  return { disk: realDisk, clock: systemClock, tasks: stage.tasks, launcher, pid: process.pid }
}

async function start(stage: OwnerStage, script: string) {
  const bytes = grantBytes(await stage.tasks.show('task-1'), shellTerms(script))
  return { bytes, ...(await startTask(startDeps(stage), bytes)) }
}

describe('starting a turn', () => {
  it('returns at once, keeps the grant and a diagnostic, and the owner runs the turn on its own', async () => {
    const stage = await ownerStage()
    const { launch, owner, bytes } = await start(stage, 'echo done')
    expect(launch).toEqual({
      task_id: 'task-1',
      owner_process: owner.pid,
      admission: 'pending',
      diagnostic_path: expect.stringMatching(
        new RegExp(`^${stage.storeDir}/launch-task-1-${process.pid}-\\d+\\.jsonl$`),
      ),
      message: expect.any(String),
    })
    const saved = launch.diagnostic_path.replace(/\.jsonl$/, '.grant.json')
    expect(Buffer.compare(await readFile(saved), bytes)).toBe(0)
    for (const path of [saved, launch.diagnostic_path]) expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await owner.exited).toEqual({ code: 0, signal: null })
    expect(await stage.tasks.show('task-1')).toMatchObject({ status: 'finished', execution: 'finished' })
    const [line, rest] = (await readFile(launch.diagnostic_path, 'utf8')).split('\n')
    expect(JSON.parse(line ?? '')).toMatchObject({ task_id: 'task-1', status: 'finished' })
    expect(rest).toBe('')
  })

  it.each<[string, (stage: OwnerStage) => Promise<unknown>, string]>([
    [
      'a cancelled task',
      (stage) => stage.act('task-1', { type: 'cancel', reason: 'no' }),
      'invalid_transition',
    ],
    [
      'a task that moved on',
      (stage) => stage.act('task-1', { type: 'correct', prompt: 'Other.', reason: 'why' }),
      'revision_mismatch',
    ],
  ])('refuses %s and leaves nothing', async (_name, change, code) => {
    const stage = await ownerStage()
    const bytes = grantBytes(await stage.tasks.show('task-1'), shellTerms('true'))
    await change(stage)
    await expect(startTask(startDeps(stage), bytes)).rejects.toMatchObject({ code })
    expect((await readdir(stage.storeDir)).filter((name) => name.startsWith('launch-'))).toEqual([])
  })

  it('an owner that refuses says so in its diagnostic, in one line', async () => {
    const stage = await ownerStage()
    const bytes = grantBytes(await stage.tasks.show('task-1'), shellTerms('true', { program: '/bin/sh' }))
    const { launch, owner } = await startTask(startDeps(stage), bytes)
    expect(await owner.exited).toMatchObject({ code: 1 })
    const text = await readFile(launch.diagnostic_path, 'utf8')
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'unsafe_path' } })
  })
})

describe('an owner that is killed', () => {
  async function killedWhileRunning(stage: OwnerStage, script: string) {
    const { owner } = await start(stage, script)
    const runs = () => readFile(join(stage.workspace.path, 'runs'), 'utf8').catch(() => '')
    await until(async () => (await runs()) === 'x\n')
    const identity = await readProcessFile(realDisk, stage.storeDir, await stage.tasks.show('task-1'))
    if (identity === null || identity === 'unreadable') throw new Error('the run is not identified')
    expect(livingOf(identity).length).toBeGreaterThan(0)
    process.kill(owner.pid, 'SIGKILL')
    await owner.exited
    await until(async () => livingOf(identity).length === 0)
  }

  it('takes its command with it; settle ends the run and nothing is run again', async () => {
    const stage = await ownerStage()
    await killedWhileRunning(stage, 'echo x >> runs; sleep 60; echo late >> runs')
    const deps = { disk: realDisk, tasks: stage.tasks }
    const task = await settle(deps, 'task-1')
    expect(task).toMatchObject({
      status: 'finished',
      execution: 'failed',
      run: { result: { ending: 'owner_process_ended', group_clear: true, output_incomplete: true } },
    })
    expect(await settle(deps, 'task-1')).toBeNull()
    expect(await recover(deps, 'task-1')).toEqual(task)
    expect(await readFile(join(stage.workspace.path, 'runs'), 'utf8')).toBe('x\n')
  })

  it('is stopped when a stop had been asked for', async () => {
    const stage = await ownerStage()
    const { owner } = await start(stage, 'echo up; sleep 60')
    // By then the owner holds no lock but its own.
    await until(async () => (await stage.output()).length > 0)
    process.kill(owner.pid, 'SIGSTOP')
    await stage.act('task-1', { type: 'cancel', reason: 'enough' })
    expect(await settle({ disk: realDisk, tasks: stage.tasks }, 'task-1')).toBeNull()
    process.kill(owner.pid, 'SIGKILL')
    await owner.exited
    await until(async () => (await settle({ disk: realDisk, tasks: stage.tasks }, 'task-1')) !== null)
    expect(await stage.tasks.show('task-1')).toMatchObject({ status: 'finished', execution: 'stopped' })
  })
})
