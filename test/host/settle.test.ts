import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { recover } from '../../src/host/recover.ts'
import { settle, settleAll, settleOverlapping } from '../../src/host/settle.ts'
import { readIdentity } from '../../src/host/supervise/process-identity.ts'
import { writeProcessFile } from '../../src/host/turn-files.ts'
import { realDisk } from '../../src/store/disk.ts'
import { abandonedRun, type HostStage, hostStage } from '../support/host-stage.ts'

const emptyDigest = `sha256:${createHash('sha256').digest('hex')}`
const children: ReturnType<typeof spawn>[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A process that lives until the test ends, or until it is killed. */
async function sleeper(): Promise<{ pid: number; end(): Promise<void> }> {
  const child = spawn('/usr/bin/sleep', ['60'], { detached: true, stdio: 'ignore' })
  children.push(child)
  await once(child, 'spawn')
  return {
    pid: child.pid ?? 0,
    async end() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** A process ID that nothing has. */
async function goneProcess(): Promise<number> {
  const one = await sleeper()
  await one.end()
  return one.pid
}

async function stageWith(...taskIds: string[]): Promise<HostStage> {
  const stage = await hostStage()
  for (const taskId of taskIds) await stage.submit(taskId, `/srv/${taskId}`)
  return stage
}

const deps = (stage: HostStage) => ({ disk: realDisk, tasks: stage.tasks })

describe('settling', () => {
  it('ends the record of a run whose owner and process are gone, with one event', async () => {
    const stage = await stageWith('task-1')
    const before = await abandonedRun(stage, 'task-1', '/srv/task-1', await goneProcess())
    const after = await settle(deps(stage), 'task-1')
    expect(after).toMatchObject({ status: 'finished', execution: 'failed', revision: before.revision + 1 })
    expect(after?.run?.result).toEqual({
      ending: 'owner_process_ended',
      exit_code: null,
      stop_requested: false,
      group_clear: true,
      elapsed_ms: 0,
      trace_digest: emptyDigest,
      candidate_snapshot: null,
      artifact_file: null,
      artifact_digest: null,
      output_incomplete: true,
      cost_status: 'unknown',
    })
    expect(await settle(deps(stage), 'task-1')).toBeNull()
  })

  it('seals the trace as it was left', async () => {
    const stage = await stageWith('task-1')
    await abandonedRun(stage, 'task-1', '/srv/task-1', null)
    await writeFile(`${stage.storeDir}/task-1.1.atif.jsonl`, '{"record":', { mode: 0o600 })
    const after = await settle(deps(stage), 'task-1')
    const digest = createHash('sha256').update('{"record":').digest('hex')
    expect(after?.run?.result?.trace_digest).toBe(`sha256:${digest}`)
  })

  it('calls it stopped when a stop was asked for', async () => {
    const stage = await stageWith('task-1')
    await abandonedRun(stage, 'task-1', '/srv/task-1', await goneProcess())
    await stage.act('task-1', { type: 'cancel', reason: 'enough' })
    const after = await settle(deps(stage), 'task-1')
    expect(after).toMatchObject({ execution: 'stopped', run: { result: { stop_requested: true } } })
  })

  it('leaves a run alone while its owner lives', async () => {
    const stage = await stageWith('task-1')
    await abandonedRun(stage, 'task-1', '/srv/task-1', await goneProcess())
    const lock = await stage.ownerLock('task-1')
    expect(await settle(deps(stage), 'task-1')).toBeNull()
    await lock.release()
    expect(await settle(deps(stage), 'task-1')).not.toBeNull()
  })

  it('leaves a run alone while its process lives, and ends it when that is gone', async () => {
    const stage = await stageWith('task-1')
    const process = await sleeper()
    const task = await abandonedRun(stage, 'task-1', '/srv/task-1', process.pid)
    const identity = readIdentity(process.pid)
    if (identity === null) throw new Error('the sleeper has no identity')
    await writeProcessFile(realDisk, stage.storeDir, task, { ...identity, pid_namespace: null })
    expect(await settle(deps(stage), 'task-1')).toBeNull()
    await process.end()
    expect(await settle(deps(stage), 'task-1')).toMatchObject({ status: 'finished' })
  })

  it('counts a process that was identified and never recorded', async () => {
    const stage = await stageWith('task-1')
    const process = await sleeper()
    const task = await abandonedRun(stage, 'task-1', '/srv/task-1', null)
    const identity = readIdentity(process.pid)
    if (identity === null) throw new Error('the sleeper has no identity')
    await writeProcessFile(realDisk, stage.storeDir, task, { ...identity, pid_namespace: null })
    expect(await settle(deps(stage), 'task-1')).toBeNull()
  })

  it.each([
    ['start time', { start_ticks: 1 }],
    ['boot', { boot_id: 'another-boot' }],
  ])('never takes a recycled process ID for the run: another %s', async (_name, over) => {
    const stage = await stageWith('task-1')
    const process = await sleeper()
    const task = await abandonedRun(stage, 'task-1', '/srv/task-1', process.pid)
    const identity = readIdentity(process.pid)
    if (identity === null) throw new Error('the sleeper has no identity')
    await writeProcessFile(realDisk, stage.storeDir, task, { ...identity, pid_namespace: null, ...over })
    expect(await settle(deps(stage), 'task-1')).toMatchObject({ status: 'finished' })
  })

  it('goes by the number alone when the process file does not read', async () => {
    const stage = await stageWith('task-1')
    const process = await sleeper()
    await abandonedRun(stage, 'task-1', '/srv/task-1', process.pid)
    await writeFile(`${stage.storeDir}/task-1.1.process.json`, '{', { mode: 0o600 })
    expect(await settle(deps(stage), 'task-1')).toBeNull()
  })

  it('has nothing to do for a task without a run', async () => {
    const stage = await stageWith('task-1')
    expect(await settle(deps(stage), 'task-1')).toBeNull()
  })

  it('ends all that it can, one failure not hindering the others', async () => {
    const stage = await stageWith('task-1', 'task-2', 'task-3')
    for (const id of ['task-1', 'task-2', 'task-3']) await abandonedRun(stage, id, `/srv/${id}`, null)
    await realDisk.remove(stage.tasks.ownerLockPath('task-2'))
    const ended = await settleAll(deps(stage))
    expect(ended.map(({ task_id }) => task_id)).toEqual(['task-1', 'task-3'])
  })

  it('before an admission ends only others, in overlapping trees', async () => {
    const stage = await stageWith('task-1', 'task-2', 'task-3')
    await abandonedRun(stage, 'task-1', '/srv/a/b', null)
    await abandonedRun(stage, 'task-2', '/srv/ab', null)
    await abandonedRun(stage, 'task-3', '/srv/a/c', null)
    await settleOverlapping(deps(stage), '/srv/a', 'task-3')
    const statuses = (await stage.tasks.list()).map(({ status }) => status)
    expect(statuses).toEqual(['finished', 'running', 'running'])
  })
})

describe('recovering', () => {
  it('settles what it can', async () => {
    const stage = await stageWith('task-1')
    await abandonedRun(stage, 'task-1', '/srv/task-1', await goneProcess())
    expect(await recover(deps(stage), 'task-1')).toMatchObject({ status: 'finished' })
  })

  it('marks a run unknown whose process lives on, once, and lets it be settled later', async () => {
    const stage = await stageWith('task-1')
    const process = await sleeper()
    await abandonedRun(stage, 'task-1', '/srv/task-1', process.pid)
    const lost = await recover(deps(stage), 'task-1')
    expect(lost).toMatchObject({
      status: 'unknown',
      execution: 'unknown',
      run: { epoch: 2, recovery_reason: 'owner_lost_effects_not_replayed' },
    })
    expect(await recover(deps(stage), 'task-1')).toEqual(lost)
    await process.end()
    expect(await settle(deps(stage), 'task-1')).toMatchObject({ status: 'finished', run: { epoch: 2 } })
  })

  it('refuses while an owner lives', async () => {
    const stage = await stageWith('task-1')
    await abandonedRun(stage, 'task-1', '/srv/task-1', null)
    const lock = await stage.ownerLock('task-1')
    await expect(recover(deps(stage), 'task-1')).rejects.toMatchObject({ code: 'store_busy' })
    await lock.release()
  })

  it('leaves a task without a run as it is, and knows no unknown one', async () => {
    const stage = await stageWith('task-1')
    expect(await recover(deps(stage), 'task-1')).toEqual(await stage.tasks.show('task-1'))
    await expect(recover(deps(stage), 'task-9')).rejects.toMatchObject({ code: 'not_found' })
  })
})
