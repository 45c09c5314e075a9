import type { Task } from '../store/tasks/task.ts'
import { type SettleDeps, settle } from './settle.ts'

/**
 * Gives up on a run whose owner is gone: settles it, or else marks it unknown. Doing so again changes nothing, and
 * nothing is ever dispatched. Refuses `store_busy` while an owner lives.
 * @see spec/execution.md §11
 */
export async function recover(deps: SettleDeps, taskId: string): Promise<Task> {
  const settled = await settle(deps, taskId)
  if (settled !== null) return settled
  const found = await deps.tasks.show(taskId)
  const lockPath = deps.tasks.ownerLockPath(taskId)
  // No owner ever came to a task without a run and without a lock file.
  if (found.run === undefined && (await deps.disk.identity(lockPath)) === null) return found
  const owner = await deps.disk.lock(lockPath, 0)
  try {
    const task = await deps.tasks.show(taskId)
    if (task.run === undefined) return task
    const epoch = task.run.epoch + 1
    if (task.status === 'running' || task.status === 'cancel_requested') {
      return await deps.tasks.record(taskId, { type: 'owner_lost' }, epoch, owner)
    }
    if (task.checks === 'running') {
      return await deps.tasks.record(taskId, { type: 'check_owner_lost' }, epoch, owner)
    }
    return task
  } finally {
    await owner.release()
  }
}
