import { resolve } from 'node:path'
import { checkHome } from '../bridge/home-check.ts'
import { systemRandom } from '../seams/random.ts'
import { realDisk } from '../store/disk.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Door } from './door.ts'

/** What everything that works on a home is handed. */
export function homeDeps(door: Door) {
  return { disk: realDisk, clock: door.clock, random: systemRandom, home: door.home }
}

/**
 * Where the task store is: as named, else in the home, which then must be private.
 * Refuses `unsafe_path`, with what to type, for a home that others can reach.
 */
export async function storeDirectory(door: Door, named: string | undefined): Promise<string> {
  if (named !== undefined) return resolve(named)
  await checkHome(realDisk, door.home)
  return `${door.home}/tasks`
}

/** Opens a task store, hands it to `use`, and closes it whatever happens. */
export async function withStore<T>(
  door: Door,
  named: string | undefined,
  use: (store: TaskStore) => Promise<T>,
  options: { waitMs?: number; readOnly?: boolean } = {},
): Promise<T> {
  const { openTaskStore } = await import('../store/tasks/store.ts')
  const store = await openTaskStore(realDisk, door.clock, await storeDirectory(door, named), options)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
