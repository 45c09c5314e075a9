import { storeWaitMs } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { isIdentifier } from '../../protocol/text.ts'
import type { Clock } from '../../seams/clock.ts'
import type { Disk, DiskLock } from '../../seams/disk.ts'
import { applyBytes, receiptForBytes } from './apply.ts'
import type { TaskCommand } from './command.ts'
import { type Filling, storeFillings, taskFillings } from './fillings.ts'
import { storeHandle } from './handle.ts'
import type { HostEvent } from './host-event.ts'
import type { CommandSender } from './identities.ts'
import { openStore, openStoreForReading } from './open.ts'
import { readAllTasks, readAllVerified, readTask } from './read.ts'
import { recordEvent } from './record.ts'
import { retiredStoreWith } from './retired.ts'
import type { Receipt, Task } from './task.ts'

/**
 * An open task store. Any call may refuse `unsafe_path` (something on the way is not private, or the lock file was
 * replaced), `corrupt_store`, `unsupported_schema`, `limit_exceeded`, `store_busy` (a lock was still held after the
 * handle's wait) or `io`. After a failed or doubtful write every call refuses `reopen_required`.
 * @see spec/store.md
 */
export interface TaskStore {
  /** The store directory. */
  readonly dir: string
  /**
   * Applies a command once, durably. The same bytes again give the first receipt; the same command id with other
   * bytes, or under another task, refuses `command_conflict`. Also `invalid_command`, `not_found`,
   * `revision_mismatch`, `invalid_transition`.
   * @param sender whose wish it is: the owner's unless said otherwise
   */
  apply(bytes: Uint8Array, sender?: CommandSender): Promise<Receipt>
  /**
   * Records a host event, durably. `not_found`, `invalid_transition`, and `workspace_busy` when another task
   * reserves an overlapping workspace.
   * @param epoch the epoch of the run that records
   * @param owner the owner lock of the task, proved to be still in place
   * @param hold the task's lock from `lockTask`, when the caller holds it already
   */
  record(taskId: string, event: HostEvent, epoch: number, owner?: DiskLock, hold?: DiskLock): Promise<Task>
  /** One task. `not_found` also for what is no identifier. Takes no lock. */
  show(taskId: string): Promise<Task>
  /** Every task, by the bytes of its id. Takes no lock. */
  list(): Promise<Task[]>
  /** How full the store is, and each of its tasks. Takes no lock. */
  fillings(): Promise<Filling[]>
  /** The receipt of exactly these bytes if they were accepted; null otherwise. Takes no lock. */
  receiptFor(bytes: Uint8Array): Promise<Receipt | null>
  /** The command that created a task; null when there is no such task. Takes no lock. */
  submitRequest(taskId: string): Promise<TaskCommand | null>
  /** The same of a task in a store that was put aside from here; null when none has it. Takes no lock. */
  retiredSubmitRequest(taskId: string): Promise<TaskCommand | null>
  /** Holds a task's write lock across several steps: no command is accepted meanwhile. `not_found`. */
  lockTask(taskId: string): Promise<DiskLock>
  /** Where the lock of the task's execution owner lies. Made (durably) by whoever takes it first. */
  ownerLockPath(taskId: string): string
  close(): Promise<void>
}

/** How to open a store. */
export interface TaskStoreOptions {
  /** How long to wait for a lock, in milliseconds: 5 s unless said otherwise. */
  readonly waitMs?: number
  /** Read an existing store without making, moving or locking anything; whatever would write refuses `io`. */
  readonly readOnly?: boolean
}

/**
 * Opens the task store in `dir`, an absolute path, making it when nothing is there.
 * @throws as `openStore` and `openStoreForReading` say
 * @see spec/store.md §9
 */
export async function openTaskStore(
  disk: Disk,
  clock: Clock,
  dir: string,
  { waitMs = storeWaitMs, readOnly = false }: TaskStoreOptions = {},
): Promise<TaskStore> {
  const store = readOnly ? await openStoreForReading(disk, dir) : await openStore(disk, clock, dir, waitMs)
  const handle = storeHandle(disk, store, { waitMs, readOnly })
  const { layout } = store
  return {
    dir: layout.dir,
    apply: (bytes, sender = 'owner') => applyBytes(handle, bytes, sender),
    record: (taskId, event, epoch, owner, hold) => recordEvent(handle, { taskId, event, epoch, owner, hold }),
    async show(taskId) {
      const verified = await readTask(handle, taskId)
      if (verified === null) throw new Refusal('not_found', 'no such task')
      return verified.task
    },
    async list() {
      await handle.check()
      return readAllTasks(handle)
    },
    async fillings() {
      await handle.check()
      const counts = await handle.identities.counts()
      return [...storeFillings(counts), ...(await readAllVerified(handle)).flatMap(taskFillings)]
    },
    receiptFor: (bytes) => receiptForBytes(handle, bytes),
    submitRequest: async (taskId) => (await readTask(handle, taskId))?.submit ?? null,
    async retiredSubmitRequest(taskId) {
      if (!isIdentifier(taskId)) return null
      const retired = await retiredStoreWith(disk, layout.dir, taskId)
      if (retired === null) return null
      const aside = await openTaskStore(disk, clock, retired, { readOnly: true })
      try {
        return await aside.submitRequest(taskId)
      } finally {
        await aside.close()
      }
    },
    async lockTask(taskId) {
      if ((await readTask(handle, taskId)) === null) throw new Refusal('not_found', 'no such task')
      return handle.lock(layout.taskLock(taskId))
    },
    ownerLockPath(taskId) {
      if (!isIdentifier(taskId)) throw new Refusal('not_found', 'no such task')
      return layout.ownerLock(taskId)
    },
    close: async () => handle.close(),
  }
}
