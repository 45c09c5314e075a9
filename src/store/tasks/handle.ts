import { Refusal } from '../../protocol/refusal.ts'
import type { Disk, DiskLock } from '../../seams/disk.ts'
import { type CommandSender, type Identities, type Identity, openIdentities } from './identities.ts'
import type { StoreLayout } from './layout.ts'
import type { OpenedStore } from './open.ts'
import { sharedReservations } from './reservations.ts'
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
  /** Takes the lock at `path`. `store_busy` after the handle's wait. */
  lock(path: string): Promise<DiskLock>
  /** Runs `work` under the lock at `path`. */
  locked<T>(path: string, work: () => Promise<T>): Promise<T>
  /**
   * Reserves a command id, durably, under `tasks.lock`; calls at the same time share a write.
   * @throws what `Identities.reserve` says of it
   */
  reserve(identity: Identity, sender: CommandSender): Promise<void>
  /**
   * Writes a task's file, durably. The caller holds the task's lock.
   * @param reserve what must be durable before, run once it is known that the file is not too large; what it refuses
   * leaves the file, and so the handle, as it was
   */
  commit(taskId: string, next: VerifiedTask, reserve?: () => Promise<void>): Promise<void>
  close(): void
}

/** How an open store is used. */
export interface HandleOptions {
  readonly waitMs: number
  readonly readOnly: boolean
}

export function storeHandle(
  disk: Disk,
  store: OpenedStore,
  { waitMs, readOnly }: HandleOptions,
): StoreHandle {
  const { layout } = store
  let state: 'open' | 'failed' | 'closed' = 'open'

  const refuseUnlessOpen = () => {
    if (state === 'open') return
    throw new Refusal('reopen_required', `this handle on the task store has ${state}; open the store again`)
  }
  // A failed write leaves the disk in doubt, so the handle believes nothing from then on.
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      state = 'failed'
      throw error
    }
  }
  const identities = openIdentities(disk, layout, write)
  const tasks = verifiedTasks(disk, layout, identities)
  const lock = async (path: string) => {
    if (readOnly) throw new Refusal('io', 'the task store is open for reading only')
    // A lock file of a task means nothing once nobody holds it, so it need not outlive a crash.
    return disk.lock(path, waitMs, { create: path !== layout.lock, volatile: true })
  }

  const locked = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    const held = await lock(path)
    try {
      // Another call may have failed, or the store been replaced, while this one waited.
      refuseUnlessOpen()
      await checkLockFile(disk, store)
      return await work()
    } finally {
      await held.release()
    }
  }

  return {
    disk,
    layout,
    tasks,
    identities,
    lock,
    async check() {
      refuseUnlessOpen()
      await disk.checkDirectory(layout.dir)
      await disk.checkDirectory(layout.tasks)
      await checkLockFile(disk, store)
    },
    locked,
    reserve: sharedReservations((wishes) => locked(layout.lock, () => identities.reserve(wishes))),
    async commit(taskId, next, reserve) {
      const bytes = encodeTaskFile(next)
      let refused = false
      const meanwhile = async () => {
        try {
          await reserve?.()
        } catch (error) {
          refused = true
          throw error
        }
      }
      try {
        await disk.replace(layout.taskFile(taskId), bytes, { meanwhile })
      } catch (error) {
        if (!refused) state = 'failed'
        throw error
      }
      await tasks.written(taskId, { ...next, bytes: bytes.length })
    },
    close() {
      state = 'closed'
    },
  }
}

/** Proves that the store's lock file is the one that was opened. It is never written, so its time is part of it. */
async function checkLockFile(disk: Disk, { layout, lockIdentity }: OpenedStore): Promise<void> {
  const now = await disk.identity(layout.lock)
  if (now?.ino === lockIdentity.ino && now.dev === lockIdentity.dev && now.mtimeNs === lockIdentity.mtimeNs)
    return
  throw new Refusal('unsafe_path', 'tasks.lock is not the file that this handle opened')
}
