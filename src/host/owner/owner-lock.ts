import { ownerWaitMs } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Disk, DiskLock } from '../../seams/disk.ts'
import type { TaskStore } from '../../store/tasks/store.ts'

/**
 * Takes the lock that an owner holds for as long as it lives: the kernel frees it at its death.
 * Refuses `not_found`, `store_busy` after 120 s of another owner, and `corrupt_store` when a run exists whose lock file
 * does not: an owner could then not be told from none.
 * @see spec/execution.md §4, step 3
 */
export async function takeOwnerLock(disk: Disk, store: TaskStore, taskId: string): Promise<DiskLock> {
  // The task is read before the file is looked for, so a competing owner that has just made it is no damage.
  const task = await store.show(taskId)
  const path = store.ownerLockPath(taskId)
  const ran = task.run !== undefined || task.earlier !== undefined
  if (ran && (await disk.identity(path)) === null) {
    throw new Refusal('corrupt_store', `task ${taskId} has a run and no owner lock file`)
  }
  return disk.lock(path, ownerWaitMs, { create: true })
}
