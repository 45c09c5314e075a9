import { Refusal } from '../../protocol/refusal.ts'
import type { Disk, DiskLock } from '../../seams/disk.ts'
import { type Identities, openIdentities } from './identities.ts'
import type { StoreLayout } from './layout.ts'
import type { OpenedStore } from './open.ts'
import { encodeTaskFile, type VerifiedTask } from './task-file.ts'
import { type VerifiedTasks, verifiedTasks } from './verified-tasks.ts'

/** What every operation on an open store works with. */
export interface StoreHandle {
  readonly disk: Disk
  readonly layout: StoreLayout
  readonly tasks: VerifiedTasks
  readonly identities: Identities
  /** Refuses `reopen_required` after a failed write, `unsafe_path` when the store is not the one that was opened. */
  check(): Promise<void>
  /** Runs `work` under the lock at `path`. `store_busy` after the handle's wait. */
  locked<T>(path: string, work: (lock: DiskLock) => Promise<T>): Promise<T>
  lock(path: string): Promise<DiskLock>
  /** Runs a write; its failure leaves the disk in doubt, so the handle refuses from then on. */
  write<T>(work: () => Promise<T>): Promise<T>
  /** Writes a task's file, durably. The caller holds the task's lock. `limit_exceeded` before anything is written. */
  commit(taskId: string, next: VerifiedTask, reserve: () => Promise<void>): Promise<void>
  close(): void
}

export function storeHandle(disk: Disk, store: OpenedStore, waitMs: number, readOnly: boolean): StoreHandle {
  const { layout, lockIdentity } = store
  const tasks = verifiedTasks(disk, layout)
  let state: 'open' | 'failed' | 'closed' = 'open'

  const lock = (path: string) => {
    if (readOnly) throw new Refusal('io', 'the task store is open for reading only')
    // A task's lock file means nothing once nobody holds it, so it need not outlive a crash.
    return disk.lock(path, waitMs, { create: path !== layout.lock, volatile: true })
  }
  const locked: StoreHandle['locked'] = async (path, work) => {
    const held = await lock(path)
    try {
      return await work(held)
    } finally {
      await held.release()
    }
  }
  const write: StoreHandle['write'] = async (work) => {
    try {
      return await work()
    } catch (error) {
      state = 'failed'
      throw error
    }
  }

  return {
    disk,
    layout,
    tasks,
    identities: openIdentities(disk, layout.identities, write),
    lock: async (path) => lock(path),
    locked,
    write,
    async check() {
      if (state !== 'open') {
        throw new Refusal(
          'reopen_required',
          `this handle on the task store has ${state}; open the store again`,
        )
      }
      await disk.checkDirectory(layout.dir)
      await disk.checkDirectory(layout.tasks)
      const now = await disk.identity(layout.lock)
      // The lock file is never written, so its modification time is part of who it is.
      if (
        now?.ino !== lockIdentity.ino ||
        now.dev !== lockIdentity.dev ||
        now.mtimeNs !== lockIdentity.mtimeNs
      ) {
        throw new Refusal('unsafe_path', 'tasks.lock is not the file that this handle opened')
      }
    },
    async commit(taskId, next, reserve) {
      const bytes = encodeTaskFile(next)
      await reserve()
      await write(() => disk.replace(layout.taskFile(taskId), bytes))
      await tasks.written(taskId, { ...next, bytes: bytes.length })
    },
    close() {
      state = 'closed'
    },
  }
}
