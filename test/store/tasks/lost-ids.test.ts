import { readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/seams/clock.ts'
import type { Disk } from '../../../src/seams/disk.ts'
import { openArchive } from '../../../src/store/archive.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { refused } from '../../support/refusals.ts'
import { cancel, correct, newStore, submit } from './samples.ts'

const shortened: [string, (text: string) => string][] = [
  ['is emptied', () => ''],
  ['lost its first line', (text) => text.slice(text.indexOf('\n') + 1)],
  ['lost its last line', (text) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)],
]

describe('a log of ids that lost ids which tasks have used', () => {
  it.each(shortened)('refuses every use of the task when it %s, and is left alone', async (_how, change) => {
    const { store, dir, reopen } = await newStore()
    await store.apply(submit('task-1', 'cmd-1'))
    await store.apply(correct('task-1', 1, 'cmd-2'))
    await store.close()
    const log = join(dir, 'identities.log')
    await writeFile(log, change(await readFile(log, 'utf8')))
    const before = await everything(dir)
    const again = await reopen()
    for (const use of [
      () => again.show('task-1'),
      () => again.list(),
      () => again.apply(correct('task-1', 2)),
      () => again.apply(correct('task-1', 1, 'cmd-2')),
      () => again.lockTask('task-1'),
      () => openArchive(realDisk, dir).archive('task-1', 'done', { kind: 'owner' }, 1),
    ]) {
      await refused('corrupt_store', use)
      await expect(use()).rejects.toThrow(/identities\.log/)
    }
    expect(await everything(dir)).toEqual(before)
  })

  it('is refused also when it gives an id to another task', async () => {
    const { store, dir, reopen } = await newStore()
    await store.apply(submit('task-1', 'cmd-1'))
    await store.apply(correct('task-1', 1, 'cmd-2'))
    const log = join(dir, 'identities.log')
    const text = await readFile(log, 'utf8')
    await writeFile(log, text.replace('"cmd-2","task_id":"task-1"', '"cmd-2","task_id":"task-9"'))
    await refused('corrupt_store', (await reopen()).show('task-1'))
  })

  it('takes no id for another task when it is emptied, neither before the store is opened nor while it is', async () => {
    const { store, dir, reopen } = await newStore()
    await store.apply(submit('task-1', 'cmd-1'))
    await truncate(join(dir, 'identities.log'))
    for (const opened of [store, await reopen()])
      await refused('corrupt_store', opened.apply(submit('task-2', 'cmd-1')))
    expect(await readFile(join(dir, 'identities.log'), 'utf8')).toBe('')
    expect(await readdir(join(dir, 'task'))).not.toContain('task-2.json')
  })

  it('takes no id for another task when its end is cut off while the store is open', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1', 'cmd-1'))
    await store.apply(submit('task-2', 'cmd-2'))
    const { length } = await readFile(join(dir, 'identities.log'))
    await store.apply(correct('task-1', 1, 'cmd-3'))
    await truncate(join(dir, 'identities.log'), length)
    await refused('corrupt_store', store.apply(correct('task-2', 1, 'cmd-3')))
  })

  it('is not read again for a command when it is the one last seen', async () => {
    const { dir } = await newStore()
    let reads = 0
    const counting: Disk = {
      ...realDisk,
      read(path, most) {
        if (path.endsWith('identities.log')) reads += 1
        return realDisk.read(path, most)
      },
    }
    const store = await openTaskStore(counting, systemClock, dir)
    await store.apply(submit('task-1'))
    const first = reads
    await store.apply(correct('task-1', 1))
    await store.apply(submit('task-2'))
    await store.apply(cancel('task-1', 2))
    await store.list()
    expect(reads).toBe(first)
  })

  it('may have grown: many handles write at once and none misses an id', async () => {
    const { store, reopen } = await newStore()
    const stores = [store, await reopen(), await reopen()]
    await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        const one = stores[at % stores.length] ?? store
        await one.apply(submit(`task-${at}`))
        await one.list()
      }),
    )
    for (const one of stores) expect(await one.list()).toHaveLength(30)
  })
})

async function everything(dir: string): Promise<unknown[]> {
  const names = (await readdir(dir, { recursive: true })).filter((name) => /\.(json|log)$/.test(name)).sort()
  return Promise.all(names.map(async (name) => [name, await readFile(join(dir, name), 'utf8')]))
}
