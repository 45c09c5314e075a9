import { join } from 'node:path'
import { storeWaitMs } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Clock } from '../../seams/clock.ts'
import type { Disk, DiskLock } from '../../seams/disk.ts'
import { storeLayout } from './layout.ts'
import { isBetweenStores, nextRetiredStore, preparedStore, retiredStores } from './retired.ts'
import { openTaskStore, type TaskStore } from './store.ts'
import type { Task } from './task.ts'

/** What putting a store aside came to. */
export interface Rotation {
  /** The directory that the old store has now. */
  readonly retired: string
  /** How many tasks it holds. */
  readonly tasks: number
}

/**
 * Puts the task store in `dir` aside as `dir.N`, whole, and an empty one in its place. The new one is made before the
 * old one moves. When a crash lets the two moves come apart, every opening refuses until this is called again, which
 * then only makes the second.
 * @param prepare adds to the new store, whose directory it is given, what has to go on in it
 * @throws `invalid_transition` without tasks, or while one has not ended; `store_busy` while a program uses the store or the owner of a
 * turn lives; otherwise as `openTaskStore`
 * @see spec/store.md §6a
 */
export async function rotateStore(
  disk: Disk,
  clock: Clock,
  dir: string,
  prepare: (next: string) => Promise<void>,
): Promise<Rotation> {
  const next = preparedStore(dir)
  if (await isBetweenStores(disk, dir)) {
    await disk.rename(next, dir)
    return await lastRotation(disk, clock, dir)
  }
  const store = await openTaskStore(disk, clock, dir)
  try {
    refuseUnlessEnded(await store.list())
    await disk.removeTree(next)
    await (await openTaskStore(disk, clock, next)).close()
    await prepare(next)
    return await whileNobodyWrites(disk, dir, () => exchange(disk, store, next))
  } finally {
    await store.close()
  }
}

async function exchange(disk: Disk, store: TaskStore, next: string): Promise<Rotation> {
  const tasks = await store.list()
  refuseUnlessEnded(tasks)
  const retired = await nextRetiredStore(disk, store.dir)
  await disk.rename(store.dir, retired)
  await disk.rename(next, store.dir)
  return { retired, tasks: tasks.length }
}

async function lastRotation(disk: Disk, clock: Clock, dir: string): Promise<Rotation> {
  const retired = (await retiredStores(disk, dir)).at(-1)
  if (retired === undefined)
    throw new Refusal('corrupt_store', `the store that was put aside from ${dir} is gone`)
  const store = await openTaskStore(disk, clock, retired, { readOnly: true })
  try {
    return { retired, tasks: (await store.list()).length }
  } finally {
    await store.close()
  }
}

function refuseUnlessEnded(tasks: readonly Task[]): void {
  // Whoever says it twice would put an empty store aside.
  if (tasks.length === 0) throw new Refusal('invalid_transition', 'the task store has no tasks')
  const going = tasks.filter(({ status, checks }) => !isEnd(status) || checks === 'running')
  const [first] = going
  if (first === undefined) return
  const which =
    going.length === 1 ? `task ${first.task_id} has` : `${going.length} tasks, such as ${first.task_id}, have`
  throw new Refusal('invalid_transition', `${which} not ended`, { hint: 'drawbridge task list' })
}

function isEnd(status: Task['status']): boolean {
  return status === 'finished' || status === 'cancelled'
}

/**
 * Runs `work` while no other program can change a task: the locks of all of them are held, then the store's, so that no
 * new one comes. A turn needs its task's lock to begin, so owners are only looked for.
 */
async function whileNobodyWrites<T>(disk: Disk, dir: string, work: () => Promise<T>): Promise<T> {
  const layout = storeLayout(dir)
  const held: DiskLock[] = []
  try {
    const names = await lockNames(disk, layout.tasks)
    for (const name of names) held.push(await disk.lock(join(layout.tasks, name), storeWaitMs))
    held.push(await disk.lock(layout.lock, storeWaitMs))
    if ((await lockNames(disk, layout.tasks)).length > names.length) {
      throw new Refusal('store_busy', 'another program uses the task store')
    }
    for (const name of await lockNames(disk, dir, 'owner-')) {
      await (await disk.lock(join(dir, name), 0)).release()
    }
    return await work()
  } finally {
    for (const lock of held.reverse()) await lock.release()
  }
}

async function lockNames(disk: Disk, directory: string, prefix = ''): Promise<string[]> {
  const names = (await disk.list(directory)) ?? []
  return names.filter((name) => name.startsWith(prefix) && name.endsWith('.lock'))
}
