import { diskRetryForMs, diskRetryMs, ownerWaitMs } from '../../limits.ts'
import { type Clock, pause } from '../../seams/clock.ts'
import type { Disk, DiskLock } from '../../seams/disk.ts'
import type { HostEvent } from '../../store/tasks/host-event.ts'
import { openTaskStore, type TaskStore } from '../../store/tasks/store.ts'
import type { Task } from '../../store/tasks/task.ts'

/** An owner's hold on the store: it records, and survives a full disk. */
export interface Recorder {
  /** The store as it is open now; a full disk may have made it be opened anew. */
  store(): TaskStore
  /**
   * Records one event of the run in its first epoch. A full disk or quota is tried again every 2 s for up to 600 s;
   * nothing else is.
   * @param hold the task's lock, when the caller holds it
   */
  record(event: HostEvent, owner: DiskLock, hold?: DiskLock): Promise<Task>
  close(): Promise<void>
}

/** A live owner never records under another epoch, so what recovery advanced refuses it. */
const ownerEpoch = 1

/**
 * Opens the store for an owner, which waits 120 s for its locks.
 * @see spec/execution.md §4
 */
export async function openRecorder(
  disk: Disk,
  clock: Clock,
  storeDir: string,
  taskId: string,
): Promise<Recorder> {
  const open = () => openTaskStore(disk, clock, storeDir, { waitMs: ownerWaitMs })
  let store = await open()
  return {
    store: () => store,
    async record(event, owner, hold) {
      const until = clock.nowMs() + diskRetryForMs
      for (;;) {
        try {
          return await store.record(taskId, event, ownerEpoch, owner, hold)
        } catch (error) {
          if (!isDiskFull(error) || clock.nowMs() >= until) throw error
        }
        await pause(clock, diskRetryMs)
        // A handle whose write failed takes no further call; what it wrote may still have reached the disk.
        await store.close()
        store = await open()
        const task = await store.show(taskId)
        if (isRecorded(task, event)) return task
      }
    },
    close: () => store.close(),
  }
}

/** Whether an error is, or was caused by, a disk or quota that is full. Pure. */
export function isDiskFull(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT')) return true
  }
  return false
}

/** Whether an event of this owner is already part of the task. */
function isRecorded(task: Task, event: HostEvent): boolean {
  switch (event.type) {
    case 'admitted':
      return task.run !== undefined
    case 'effect_intent':
      return task.run?.effect_id != null
    case 'spawned':
      return task.run?.process_id != null
    case 'result':
      return task.run?.result != null
    default:
      return false
  }
}
