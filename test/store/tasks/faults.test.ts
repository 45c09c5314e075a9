import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/protocol/refusal.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import type { Disk } from '../../../src/seams/disk.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { refused } from '../../support/refusals.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { admitted, cancel, newStore, submit } from './samples.ts'

type Step = 'before the append' | 'after the append' | 'before the rename' | 'after the rename'
const steps: Step[] = ['before the append', 'after the append', 'before the rename', 'after the rename']

/** A real disk whose next write fails at a chosen step, leaving what a failure there leaves. */
function failingDisk(): { disk: Disk; failAt(step: Step): void } {
  let step: Step | null = null
  const fails = (here: Step) => {
    if (step !== here) return
    step = null
    throw new Refusal('io', 'EIO')
  }
  const disk: Disk = {
    ...realDisk,
    async openAppend(path, options) {
      const file = await realDisk.openAppend(path, options)
      return {
        ...file,
        async append(bytes) {
          fails('before the append')
          await file.append(bytes)
          fails('after the append')
        },
      }
    },
    async replace(path, bytes, temporary) {
      fails('before the rename')
      await realDisk.replace(path, bytes, temporary)
      fails('after the rename')
    },
  }
  return {
    disk,
    failAt(at) {
      step = at
    },
  }
}

describe.each(steps)('a write that fails %s', (step) => {
  it('makes the handle refuse until the store is opened again; the same bytes are then accepted once', async () => {
    const { disk, failAt } = failingDisk()
    const { store, dir, reopen } = await newStore(disk)
    failAt(step)
    await refused('io', store.apply(submit('task-1')))
    for (const call of [
      () => store.apply(submit('task-1')),
      () => store.apply(submit('task-2')),
      () => store.show('task-1'),
      () => store.list(),
      () => store.receiptFor(submit('task-1')),
      () => store.submitRequest('task-1'),
      () => store.lockTask('task-1'),
      () => store.record('task-1', { type: 'owner_lost' }, 2),
    ]) {
      await refused('reopen_required', call)
    }
    const again = await reopen()
    const receipt = await again.apply(submit('task-1'))
    expect([receipt.sequence, receipt.revision]).toEqual([1, 1])
    expect(await again.apply(submit('task-1'))).toEqual(receipt)
    expect(await again.list()).toHaveLength(1)
    expect(await readFile(join(dir, 'identities.log'), 'utf8')).toBe(
      '{"command_id":"submit-task-1","task_id":"task-1","submit":true}\n',
    )
  })

  it('also of a later command leaves the task as it was or as the command makes it', async () => {
    const { disk, failAt } = failingDisk()
    const { store, reopen } = await newStore(disk)
    await store.apply(submit('task-1'))
    failAt(step)
    await refused('io', store.apply(cancel('task-1', 1)))
    const again = await reopen()
    expect((await again.show('task-1')).revision).toBe(step === 'after the rename' ? 2 : 1)
    expect((await again.apply(cancel('task-1', 1))).revision).toBe(2)
  })
})

it('a host event whose write fails leaves the handle to be opened again', async () => {
  const { disk, failAt } = failingDisk()
  const { store, reopen } = await newStore(disk)
  await store.apply(submit('task-1'))
  const event = admitted(await store.show('task-1'))
  failAt('after the rename')
  await refused('io', store.record('task-1', event, 1))
  await refused('reopen_required', store.show('task-1'))
  const again = await reopen()
  expect((await again.show('task-1')).status).toBe('running')
  await refused('invalid_transition', again.record('task-1', event, 1))
})

it('a call that waits for a lock while another call fails refuses reopen_required', async () => {
  const { disk, failAt } = failingDisk()
  const { store } = await newStore(disk)
  failAt('after the append')
  const results = await Promise.allSettled([
    store.apply(submit('task-1')),
    store.apply(submit('task-1', 'second')),
  ])
  const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : result.value))
  expect(codes.sort()).toEqual(['io', 'reopen_required'])
})

it('a closed handle refuses reopen_required', async () => {
  const { store } = await newStore()
  await store.close()
  await refused('reopen_required', store.list())
})

describe('a creation that fails', () => {
  it.each(['identities.log', 'store.json'])('at %s is not taken for a store, nor made anew', async (name) => {
    const dir = join(await tempDir(), 'tasks')
    const disk: Disk = {
      ...realDisk,
      create: (path, bytes) =>
        path.endsWith(name) ? Promise.reject(new Refusal('io', 'EIO')) : realDisk.create(path, bytes),
      replace: (path, bytes) =>
        path.endsWith(name) ? Promise.reject(new Refusal('io', 'EIO')) : realDisk.replace(path, bytes),
    }
    // Time that runs fast, so that waiting for whoever made the lock file takes none.
    let nowMs = 0
    const clock = { ...systemClock, nowMs: () => (nowMs += 1_000) }
    await refused('io', openTaskStore(disk, clock, dir))
    const left = await readdir(dir)
    await refused('corrupt_store', openTaskStore(realDisk, clock, dir))
    expect(await readdir(dir)).toEqual(left)
  })
})
