import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import { withStore } from './deps.ts'
import type { Door } from './door.ts'

/** Lists show twelve characters of an ID; eight are enough to mean it. */
const prefixMin = 8

/**
 * The ID of the task that a person means: the whole ID, or the beginning of exactly one. What no task has is given
 * back as it is, for the command itself to refuse. Refuses `not_found` for the beginning of several, and otherwise as
 * reading the store does.
 */
export async function knownTask(door: Door, store: string | undefined, given: string): Promise<string> {
  if (given.length < prefixMin) return given
  const ids = await idsLike(door, store, given)
  if (ids.length > 1) {
    throw new Refusal('not_found', `${ids.length} tasks have an ID that begins with ${given}`, {
      hint: 'Give more of it: task list --json shows whole IDs.',
    })
  }
  return ids[0] ?? given
}

/** The IDs that `given` may mean; none when there is no store. */
async function idsLike(door: Door, store: string | undefined, given: string): Promise<string[]> {
  try {
    return await withStore(door, store, (tasks) => idsIn(tasks, given), { readOnly: true })
  } catch (error) {
    if (isRefusal(error, 'not_found')) return []
    throw error
  }
}

async function idsIn(tasks: TaskStore, given: string): Promise<string[]> {
  try {
    return [(await tasks.show(given)).task_id]
  } catch (error) {
    if (!isRefusal(error, 'not_found')) throw error
    return (await tasks.list()).map((task) => task.task_id).filter((id) => id.startsWith(given))
  }
}
