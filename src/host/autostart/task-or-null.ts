import { isRefusal } from '../../protocol/refusal.ts'
import type { TaskStore } from '../../store/tasks/store.ts'
import type { Task } from '../../store/tasks/task.ts'

/** A task; null when the store has none of this ID. */
export async function taskOrNull(tasks: TaskStore, taskId: string): Promise<Task | null> {
  try {
    return await tasks.show(taskId)
  } catch (error) {
    if (isRefusal(error, 'not_found')) return null
    throw error
  }
}
