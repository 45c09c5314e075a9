import { describe, expect, it } from 'vitest'
import { openRecorder } from '../../../src/host/owner/recorder.ts'
import { diskRetryForMs, diskRetryMs } from '../../../src/limits.ts'
import { Refusal } from '../../../src/protocol/refusal.ts'
import type { Disk } from '../../../src/seams/disk.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { hostStage, madeUpAdmission } from '../../support/host-stage.ts'

/** A disk whose first `times` writes of a task file fail with `code`, before or after the bytes are in place. */
function failingDisk(times: number, code: string, when: 'before' | 'after'): Disk & { failures(): number } {
  let failures = 0
  return {
    ...realDisk,
    failures: () => failures,
    async replace(path, bytes, temporary) {
      const fails = path.endsWith('/task/task-1.json') && failures < times
      if (fails) failures += 1
      if (!fails || when === 'after') await realDisk.replace(path, bytes, temporary)
      if (fails) throw new Refusal('io', 'cannot write', { cause: Object.assign(new Error(code), { code }) })
    },
  }
}

async function admission() {
  const stage = await hostStage()
  const task = await stage.submit('task-1', '/srv/w')
  const lock = await stage.ownerLock('task-1')
  return { stage, lock, event: { type: 'admitted' as const, admission: madeUpAdmission(task, '/srv/w') } }
}

/** Lets `count` pauses of the recorder pass, each as soon as it waits. */
async function passed(clock: FakeClock, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    while (clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(diskRetryMs)
  }
}

describe('recording on a full disk', () => {
  it.each(['ENOSPC', 'EDQUOT'])('tries again every two seconds after %s', async (code) => {
    const { stage, lock, event } = await admission()
    const clock = fakeClock()
    const disk = failingDisk(2, code, 'before')
    const recorder = await openRecorder(disk, clock, stage.storeDir, 'task-1')
    const recorded = recorder.record(event, lock)
    await passed(clock, 2)
    expect(disk.failures()).toBe(2)
    expect(await recorded).toMatchObject({ status: 'running', revision: 2 })
  })

  it('records once what had reached the disk before it failed', async () => {
    const { stage, lock, event } = await admission()
    const clock = fakeClock()
    const disk = failingDisk(1, 'ENOSPC', 'after')
    const recorder = await openRecorder(disk, clock, stage.storeDir, 'task-1')
    const recorded = recorder.record(event, lock)
    await passed(clock, 1)
    expect(await recorded).toMatchObject({ revision: 2 })
    expect(await stage.tasks.show('task-1')).toMatchObject({ revision: 2 })
  })

  it('gives up after ten minutes', async () => {
    const { stage, lock, event } = await admission()
    const clock = fakeClock()
    const disk = failingDisk(Number.POSITIVE_INFINITY, 'ENOSPC', 'before')
    const recorder = await openRecorder(disk, clock, stage.storeDir, 'task-1')
    const outcome = recorder.record(event, lock).catch((error: unknown) => error)
    await passed(clock, diskRetryForMs / diskRetryMs)
    expect(await outcome).toMatchObject({ code: 'io' })
    expect(disk.failures()).toBeGreaterThanOrEqual(diskRetryForMs / diskRetryMs)
  })

  it('tries nothing else again', async () => {
    const { stage, lock, event } = await admission()
    const disk = failingDisk(1, 'EIO', 'before')
    const recorder = await openRecorder(disk, fakeClock(), stage.storeDir, 'task-1')
    await expect(recorder.record(event, lock)).rejects.toMatchObject({ code: 'io' })
    expect(disk.failures()).toBe(1)
  })
})
