import { open, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/seams/clock.ts'
import type { Disk } from '../../../src/seams/disk.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { isSameIdentity } from '../../../src/store/tasks/same-identity.ts'
import { openTaskStore, type TaskStore } from '../../../src/store/tasks/store.ts'
import { refused } from '../../support/refusals.ts'
import { correct, newStore, submit } from './samples.ts'

/** The real disk, counting how often each kind of file is read. */
function countingDisk(): { disk: Disk; reads: (end: string) => number } {
  const read: string[] = []
  return {
    disk: {
      ...realDisk,
      read(path, most) {
        read.push(path)
        return realDisk.read(path, most)
      },
    },
    reads: (end) => read.filter((path) => path.endsWith(end)).length,
  }
}

let store: TaskStore
let path: string
let text: string
let broken: string

beforeEach(async () => {
  const made = await newStore()
  store = made.store
  path = join(made.dir, 'task', 'task-1.json')
  await store.apply(submit('task-1'))
  await store.apply(correct('task-1', 1))
  text = await readFile(path, 'utf8')
  broken = text.replace('"status":"queued"', '"status":"failed"')
  expect(broken).toHaveLength(text.length)
  expect(await store.show('task-1')).toMatchObject({ revision: 2 })
})

async function refusedThenRestored(restore: () => Promise<void>): Promise<void> {
  await refused('corrupt_store', store.show('task-1'))
  await refused('corrupt_store', store.list())
  await refused('corrupt_store', store.apply(correct('task-1', 2)))
  await restore()
  expect(await store.show('task-1')).toMatchObject({ revision: 2, status: 'queued' })
  expect((await store.apply(correct('task-1', 2))).revision).toBe(3)
}

describe('a task file that this process has verified, and that is then changed behind its back', () => {
  it('is read again after an edit of the same size', async () => {
    await writeFile(path, broken)
    await refusedThenRestored(() => writeFile(path, text))
  })

  it('is read again when its time of modification is put back', async () => {
    const putBack = () => utimes(path, 1_700_000_000, 1_700_000_000)
    await putBack()
    expect(await store.show('task-1')).toMatchObject({ revision: 2 })
    const { mtimeNs } = await stat(path, { bigint: true })
    await writeFile(path, broken)
    await putBack()
    expect((await stat(path, { bigint: true })).mtimeNs).toBe(mtimeNs)
    await refusedThenRestored(async () => {
      await writeFile(path, text)
      await putBack()
    })
  })

  it('is read again when another file takes its place, and when the first one comes back', async () => {
    await rename(path, `${path}.kept`)
    await writeFile(path, broken, { mode: 0o600 })
    await refusedThenRestored(() => rename(`${path}.kept`, path))
  })

  it('is read again when a writer holds it open', async () => {
    const file = await open(path, 'r+')
    const at = text.indexOf('"queued"')
    await file.write('"failed"', at)
    await refusedThenRestored(async () => {
      await file.write('"queued"', at)
    })
    await file.close()
  })

  it('is never taken for an edit in the tick of the one before, however fast they follow', async (context) => {
    if (!(await tellsTimesApart(`${path}.probe`))) context.skip('this kernel stamps files by its clock tick')
    for (let round = 0; round < 50; round += 1) {
      await writeFile(path, text)
      expect(await store.show('task-1')).toMatchObject({ status: 'queued' })
      await writeFile(path, broken)
      await refused('corrupt_store', store.show('task-1'))
    }
  })

  it('is gone when it is removed', async () => {
    await rename(path, `${path}.kept`)
    await refused('not_found', store.show('task-1'))
    expect(await store.list()).toEqual([])
    await rename(`${path}.kept`, path)
    expect(await store.list()).toHaveLength(1)
  })
})

/** Whether two edits of a file that was looked at between them always get two times of change. */
async function tellsTimesApart(probe: string): Promise<boolean> {
  const times = new Set<bigint>()
  for (let count = 0; count < 20; count += 1) {
    await writeFile(probe, 'same size')
    times.add((await stat(probe, { bigint: true })).ctimeNs)
  }
  return times.size === 20
}

it('a file is another one when any single part of its identity differs', () => {
  const identity = { dev: 1n, ino: 2n, size: 3n, mtimeNs: 4n, ctimeNs: 5n }
  expect(isSameIdentity(identity, { ...identity })).toBe(true)
  for (const [part, value] of Object.entries(identity)) {
    expect(isSameIdentity(identity, { ...identity, [part]: value + 1n }), part).toBe(false)
  }
})

describe('what is spared', () => {
  it('is the reading of an unchanged file, whoever wrote it, and nothing in another process', async () => {
    const { disk, reads } = countingDisk()
    const one = await openTaskStore(disk, systemClock, store.dir)
    const other = await openTaskStore(disk, systemClock, store.dir)
    for (let round = 0; round < 3; round += 1) await one.list()
    expect(reads('task-1.json')).toBe(1)
    await other.list()
    expect(reads('task-1.json')).toBe(2)
    await one.apply(correct('task-1', 2))
    await one.list()
    expect(reads('task-1.json')).toBe(2)
    await other.show('task-1')
    expect(reads('task-1.json')).toBe(3)
  })
})
