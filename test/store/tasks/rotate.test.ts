import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isRefusal } from '../../../src/protocol/refusal.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { rotateStore } from '../../../src/store/tasks/rotate.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { refused } from '../../support/refusals.ts'
import { stoppingDisk } from '../../support/stopping-disk.ts'
import { cancel, goOn, newStore, runningTask, runThrough, submit } from './samples.ts'

const open = (dir: string, readOnly = false) => openTaskStore(realDisk, systemClock, dir, { readOnly })
const rotate = (dir: string, disk = realDisk, prepare = async (_next: string) => {}) =>
  rotateStore(disk, systemClock, dir, prepare)

/** A store of a finished task and a cancelled one. */
async function endedStore() {
  const { store, dir } = await newStore()
  await store.apply(submit('finished'))
  await runThrough(store, 'finished')
  await store.apply(submit('cancelled'))
  await store.apply(cancel('cancelled', 1))
  return { store, dir }
}

describe('putting a task store aside', () => {
  it('leaves it whole under the next number, to be read there, and an empty one in its place', async () => {
    const { store, dir } = await endedStore()
    const tasks = await store.list()
    expect(await rotate(dir)).toEqual({ retired: `${dir}.1`, tasks: 2 })
    expect(await (await open(`${dir}.1`, true)).list()).toEqual(tasks)
    const next = await open(dir)
    expect(await next.list()).toEqual([])
    await next.apply(submit('another'))
    await next.apply(cancel('another', 1))
    expect(await rotate(dir)).toEqual({ retired: `${dir}.2`, tasks: 1 })
  })

  it('is refused while a task has not ended, naming it, and for a store without tasks', async () => {
    const { store, dir } = await newStore()
    await refused('invalid_transition', rotate(dir))
    await store.apply(submit('task-1'))
    await expect(rotate(dir)).rejects.toMatchObject({
      code: 'invalid_transition',
      message: 'task task-1 has not ended',
    })
    await runningTask(store, 'task-2', '/srv/elsewhere')
    await expect(rotate(dir)).rejects.toMatchObject({ message: '2 tasks, such as task-1, have not ended' })
    expect(await readdir(join(dir, '..'))).toEqual(['tasks'])
  })

  it('is refused while another program works on a task or the owner of a turn lives, and moves nothing', async () => {
    const { store, dir } = await endedStore()
    const owner = await realDisk.lock(store.ownerLockPath('finished'), 0, { create: true })
    await refused('store_busy', rotate(dir))
    await owner.release()
    expect((await store.list()).map((task) => task.task_id)).toEqual(['cancelled', 'finished'])
    await rotate(dir)
  })

  it('makes every handle that was open on it refuse', async () => {
    const { store, dir } = await endedStore()
    await rotate(dir)
    await refused('unsafe_path', store.apply(goOn('finished', 5)))
    expect(await (await open(dir)).list()).toEqual([])
  })

  it('never lets a task be made a second time, and still knows what made it', async () => {
    const { store, dir } = await endedStore()
    const first = await store.submitRequest('finished')
    await rotate(dir)
    const next = await open(dir)
    await refused('invalid_transition', next.apply(submit('finished')))
    await refused('invalid_transition', next.apply(submit('finished', 'other-command')))
    expect(await next.submitRequest('finished')).toBeNull()
    expect(await next.retiredSubmitRequest('finished')).toEqual(first)
    expect(await next.retiredSubmitRequest('unknown')).toBeNull()
    expect(await next.retiredSubmitRequest('../finished')).toBeNull()
  })

  it('replaces what an earlier try left half made', async () => {
    const { dir } = await endedStore()
    await mkdir(`${dir}.next`, { mode: 0o700 })
    await writeFile(join(`${dir}.next`, 'tasks.lock'), '', { mode: 0o600 })
    expect(await rotate(dir)).toEqual({ retired: `${dir}.1`, tasks: 2 })
    expect((await readdir(join(dir, '..'))).sort()).toEqual(['tasks', 'tasks.1'])
  })

  it('by two at once puts it aside once', async () => {
    const { dir } = await endedStore()
    const both = await Promise.allSettled([rotate(dir), rotate(dir)])
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await (await open(`${dir}.1`, true)).list()).length).toBe(2)
    expect(await (await open(dir)).list()).toEqual([])
  })

  it('stopped at any change leaves the old store, or the new one, or is finished by the next try', async () => {
    let [stopped, between] = [0, 0]
    for (const after of [false, true]) {
      for (let count = 1; ; count += 1) {
        const { dir } = await endedStore()
        const prepare = (disk: typeof realDisk) => async (next: string) =>
          disk.replace(join(next, 'kept.json'), Buffer.from('{}'))
        const disk = stoppingDisk(count, after)
        if ((await rotate(dir, disk, prepare(disk)).catch(() => null)) !== null) break
        stopped += 1
        const found = await tasksIn(dir)
        if (found === 'corrupt_store') {
          between += 1
          expect(await rotate(dir)).toEqual({ retired: `${dir}.1`, tasks: 2 })
        } else if (found === 2) await rotate(dir, realDisk, prepare(realDisk))
        expect(await tasksIn(dir)).toBe(0)
        expect(await tasksIn(`${dir}.1`)).toBe(2)
        expect(await readFile(join(dir, 'kept.json'), 'utf8')).toBe('{}')
        expect((await readdir(join(dir, '..'))).sort()).toEqual(['tasks', 'tasks.1'])
      }
    }
    // What an opening clears away, what an earlier try left, the new store's four files, and the two moves.
    expect([stopped, between]).toEqual([2 * 8, 2])
  })
})

/** How many tasks an opening finds, or why it finds none. */
async function tasksIn(dir: string): Promise<number | string> {
  for (const readOnly of [true, false]) {
    try {
      const store = await open(dir, readOnly)
      const { length } = await store.list()
      await store.close()
      if (!readOnly) return length
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (!readOnly) return error.code
    }
  }
  return 'nothing'
}
