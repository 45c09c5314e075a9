import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import { beginTurn, endTurn } from './turns.ts'

/**
 * Runs a task's turn as an owner in another process records it, on the store of a home.
 * @param running what happens while the turn runs
 */
export async function recordTurn(
  home: string,
  taskId: string,
  how: Parameters<typeof endTurn>[2] = {},
  running: () => Promise<void> = async () => {},
): Promise<void> {
  const tasks = await openTaskStore(realDisk, systemClock, `${home}/tasks`)
  const owner = await realDisk.lock(tasks.ownerLockPath(taskId), 0, { create: true })
  await beginTurn(tasks, taskId, owner)
  await running()
  await endTurn(tasks, taskId, how, owner)
  await owner.release()
  await tasks.close()
}
