import { isRefusal } from '../../protocol/refusal.ts'
import { nowSeconds } from '../../seams/clock.ts'
import { openArchive } from '../../store/archive.ts'
import { realDisk } from '../../store/disk.ts'
import { storeDirectory } from '../deps.ts'
import type { Door } from '../door.ts'
import { knownTask } from '../known-task.ts'
import { operatorOf } from '../operator.ts'
import type { Answer } from '../output.ts'
import { jsonLine } from '../printable.ts'

/** Hides a finished or cancelled task from devices. Nothing is deleted. @see spec/turns.md §6 */
export async function archive(
  door: Door,
  id: string,
  options: { reason: string; store?: string | undefined },
): Promise<Answer> {
  const book = openArchive(realDisk, await storeDirectory(door, options.store))
  const task = await knownTask(door, options.store, id)
  const archived = await book.archive(task, options.reason, { kind: 'owner' }, nowSeconds(door.clock))
  await tellService(door, options.store, task)
  const json = { task, archived }
  return { json, text: jsonLine(json) }
}

/** Shows an archived task again. */
export async function restore(
  door: Door,
  id: string,
  options: { store?: string | undefined },
): Promise<Answer> {
  const book = openArchive(realDisk, await storeDirectory(door, options.store))
  const task = await knownTask(door, options.store, id)
  const restored = await book.restore(task)
  await tellService(door, options.store, task)
  const json = { task, restored }
  return { json, text: jsonLine(json) }
}

/** The messages that wait for a task depend on whether it is put away, which its file does not say. */
async function tellService(door: Door, store: string | undefined, task: string): Promise<void> {
  if (store !== undefined) return
  await operatorOf(door)
    .taskChanged(task)
    .catch((error: unknown) => {
      // It is done all the same; the service sees it a few seconds later by itself.
      if (!isRefusal(error)) throw error
    })
}
