import { isRefusal } from '../protocol/refusal.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Log } from './log.ts'

/**
 * A task store that is opened again after a failed write made its handle refuse: the call that meets the refusal did
 * nothing yet, so it is made once more on the new handle.
 * @param open opens the store; its refusal reaches the caller, and the next call tries again
 */
export async function reopeningStore(open: () => Promise<TaskStore>, log: Log): Promise<TaskStore> {
  let current = await open()
  let reopening: Promise<TaskStore> | null = null

  const reopen = async (broken: TaskStore): Promise<TaskStore> => {
    if (current !== broken) return current
    reopening ??= (async () => {
      log.warn('the task store is opened again after a failed write')
      await broken.close()
      current = await open()
      return current
    })().finally(() => {
      reopening = null
    })
    return await reopening
  }

  const on = async <T>(call: (store: TaskStore) => Promise<T>): Promise<T> => {
    const store = current
    try {
      return await call(store)
    } catch (error) {
      if (!isRefusal(error, 'reopen_required')) throw error
      return await call(await reopen(store))
    }
  }

  return {
    dir: current.dir,
    apply: (bytes, sender) => on((store) => store.apply(bytes, sender)),
    record: (taskId, event, epoch, owner, hold) =>
      on((store) => store.record(taskId, event, epoch, owner, hold)),
    show: (taskId) => on((store) => store.show(taskId)),
    list: () => on((store) => store.list()),
    fillings: () => on((store) => store.fillings()),
    receiptFor: (bytes) => on((store) => store.receiptFor(bytes)),
    submitRequest: (taskId) => on((store) => store.submitRequest(taskId)),
    retiredSubmitRequest: (taskId) => on((store) => store.retiredSubmitRequest(taskId)),
    lockTask: (taskId) => on((store) => store.lockTask(taskId)),
    ownerLockPath: (taskId) => current.ownerLockPath(taskId),
    close: () => current.close(),
  }
}
