import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { refused } from '../../support/refusals.ts'
import { correct, intent, newStore, submit } from './samples.ts'

describe('reading tasks', () => {
  it('lists by the bytes of the id and ignores what is no task file', async () => {
    const { store, dir } = await newStore()
    for (const id of ['b', 'a-b', 'a', 'B', 'a.b', '10', '9']) await store.apply(submit(id))
    await writeFile(join(dir, 'task', '.a.json.tmp'), 'half', { mode: 0o600 })
    await writeFile(join(dir, 'task', '-x.json'), 'no identifier', { mode: 0o600 })
    await mkdir(join(dir, 'task', 'folder'))
    expect((await store.list()).map((task) => task.task_id)).toEqual(['10', '9', 'B', 'a', 'a-b', 'a.b', 'b'])
  })

  it('refuses not_found for what is no task, and never takes a name for a path', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    for (const id of ['task-2', '../store', '', 'task/task-1', '.', `${dir}/task/task-1`]) {
      await refused('not_found', store.show(id))
      await refused('not_found', store.lockTask(id))
      expect(await store.submitRequest(id)).toBeNull()
    }
    await refused('not_found', () => store.ownerLockPath('../x'))
  })

  it('gives the command that created a task', async () => {
    const { store, reopen } = await newStore()
    await store.apply(submit('task-1', 'first'))
    await store.apply(correct('task-1', 1))
    for (const opened of [store, await reopen()]) {
      expect(await opened.submitRequest('task-1')).toMatchObject({
        command_id: 'first',
        action: { type: 'submit', intent },
      })
    }
  })

  it('sees what another handle wrote', async () => {
    const { store, reopen } = await newStore()
    const other = await reopen()
    await store.apply(submit('task-1'))
    expect((await other.show('task-1')).revision).toBe(1)
    await other.apply(correct('task-1', 1))
    expect((await store.show('task-1')).revision).toBe(2)
    await store.apply(correct('task-1', 2))
    expect((await other.list()).map((task) => task.revision)).toEqual([3])
  })
})
