import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { listReadsAtOnce } from '../../src/limits.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import { durableReplace } from '../floors/durable.ts'
import { timed } from '../measure.ts'
import { correctBytes, submitBytes, taskFileBytes } from './filled-store.ts'

/** What a process of its own does, and tells its parent the milliseconds of. */
const roles: Readonly<Record<string, (dir: string, name: string) => Promise<number[]>>> = {
  /** Opens a store and makes one task in it. */
  create: async (dir, name) => [
    await timed(async () => {
      const store = await openTaskStore(realDisk, systemClock, dir)
      await store.apply(submitBytes(name))
    }),
  ],
  /** Lists every task, and then twenty times more. */
  async list(dir) {
    const started = performance.now()
    const store = await openTaskStore(realDisk, systemClock, dir, { readOnly: true })
    await store.list()
    const times = [performance.now() - started]
    for (let again = 0; again < 20; again += 1) times.push(await timed(() => store.list()))
    return times
  },
  /** Reads the bytes of every task's file, as many at once as a list does. */
  read: async (dir) => [await timed(() => readFiles(join(dir, 'task')))],
  migrate: async (dir) => [
    await timed(async () => (await openTaskStore(realDisk, systemClock, dir)).close()),
  ],
  /** Makes a task of its own and corrects it ten times; each time is of one operation. */
  async write(dir, name) {
    const store = await openTaskStore(realDisk, systemClock, dir)
    const times = [await timed(() => store.apply(submitBytes(name)))]
    for (let revision = 1; revision <= 10; revision += 1) {
      times.push(await timed(() => store.apply(correctBytes(name, revision))))
    }
    return times
  },
  /** Writes as often without the store. */
  async bare(dir, name) {
    const bytes = Buffer.alloc(taskFileBytes, 't')
    const times: number[] = []
    for (let write = 0; write <= 10; write += 1) {
      times.push(await timed(() => durableReplace(dir, name, bytes)))
    }
    return times
  },
}

async function readFiles(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.json'))
  for (let start = 0; start < names.length; start += listReadsAtOnce) {
    await Promise.all(
      names.slice(start, start + listReadsAtOnce).map((name) => readFile(join(directory, name))),
    )
  }
}

const [role = '', dir = '', name = ''] = process.argv.slice(2)
process.once('message', async () => {
  process.send?.((await roles[role]?.(dir, name)) ?? [], () => process.disconnect())
})
process.send?.('ready')
