import { join } from 'node:path'
import * as z from 'zod'
import { archiveBytesMax, archiveEntriesMax, archiveReasonBytesMax, storeWaitMs } from '../limits.ts'
import { hexId } from '../protocol/keys.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { isIdentifier, isSingleLine } from '../protocol/text.ts'
import type { Disk, FileIdentity } from '../seams/disk.ts'
import { openIdentities } from './tasks/identities.ts'
import { storeLayout } from './tasks/layout.ts'
import { isSameIdentity } from './tasks/same-identity.ts'
import { readStrict } from './tasks/strict.ts'
import type { Task } from './tasks/task.ts'
import { verifiedTasks } from './tasks/verified-tasks.ts'

const archiver = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('owner') }),
  z.strictObject({ kind: z.literal('device'), key: hexId }),
])
/** Who put a task away. */
export type Archiver = z.infer<typeof archiver>

const entrySchema = z.strictObject({
  at: z.int().nonnegative(),
  reason: z.string().refine((text) => isSingleLine(text, archiveReasonBytesMax)),
  by: archiver,
})
/** When, why and by whom a task was put away; `at` in Unix seconds. */
export type ArchiveEntry = z.infer<typeof entrySchema>

const archiveSchema = z.strictObject({
  schema: z.literal('openagents.coder.task-archive.v1'),
  tasks: z.record(z.string().refine(isIdentifier), entrySchema),
})
type ArchiveFile = z.infer<typeof archiveSchema>

/** Which tasks are put away. Nothing is deleted by it; only lists for devices leave them out. */
export interface Archive {
  /**
   * Puts a task away.
   * @param at host time, Unix seconds
   * @returns false when it was put away before; that entry is kept
   * @throws `invalid_command` for the reason, `not_found`, `invalid_transition` unless the task is finished or
   * cancelled, `limit_exceeded` when full, `corrupt_store` when the archive does not read
   */
  archive(taskId: string, reason: string, by: Archiver, at: number): Promise<boolean>
  /** Takes a task back. @returns false when it was not put away */
  restore(taskId: string): Promise<boolean>
  /** False also when the archive does not read: a broken file hides nothing. */
  isArchived(taskId: string): Promise<boolean>
  /** Every entry by task id; none when the archive does not read. */
  list(): Promise<ReadonlyMap<string, ArchiveEntry>>
}

/**
 * The archive of the task store in `dir`.
 * @see spec/turns.md §6
 */
export function openArchive(disk: Disk, dir: string): Archive {
  const layout = storeLayout(dir)
  const path = join(dir, 'archive.json')
  // Nothing is reserved through it, only looked up.
  const identities = openIdentities(disk, layout, (work) => work())
  const tasks = verifiedTasks(disk, layout, identities)

  async function locked<T>(lockPath: string, work: () => Promise<T>): Promise<T> {
    const lock = await disk.lock(lockPath, storeWaitMs, { create: true, volatile: true })
    try {
      return await work()
    } finally {
      await lock.release()
    }
  }

  /** The archive's lock comes before a task's, and the task's keeps it from going on while it is put away. */
  const change = async <T>(work: (file: ArchiveFile) => Promise<T>): Promise<T> => {
    await disk.checkDirectory(dir)
    return locked(join(dir, 'archive.lock'), async () => work(await readArchive(disk, path)))
  }

  /** Whoever made it so may have been cut off between its rename and the directory's sync. */
  const asBefore = async (): Promise<false> => {
    if ((await disk.identity(path)) !== null) await disk.sync(path)
    return false
  }

  let seen: { identity: FileIdentity; entries: ReadonlyMap<string, ArchiveEntry> } | null = null
  const entries = async () => {
    const identity = await disk.identity(path)
    if (identity === null) return new Map<string, ArchiveEntry>()
    if (seen === null || !isSameIdentity(seen.identity, identity)) {
      seen = { identity, entries: await readable(disk, path) }
    }
    return seen.entries
  }

  return {
    async archive(taskId, reason, by, at) {
      if (!isSingleLine(reason, archiveReasonBytesMax)) {
        throw new Refusal('invalid_command', 'the reason for archiving is not acceptable', {
          field: 'reason',
        })
      }
      if (!isIdentifier(taskId) || (await tasks.load(taskId)) === null) throw noSuchTask()
      return change((file) =>
        locked(layout.taskLock(taskId), async () => {
          if (Object.hasOwn(file.tasks, taskId)) return asBefore()
          refuseUnlessEnded((await tasks.load(taskId))?.task ?? null)
          await writeArchive(disk, path, { ...file.tasks, [taskId]: { at, reason, by } })
          return true
        }),
      )
    },
    restore: (taskId) =>
      change(async (file) => {
        if (!Object.hasOwn(file.tasks, taskId)) return asBefore()
        const { [taskId]: _restored, ...kept } = file.tasks
        await writeArchive(disk, path, kept)
        return true
      }),
    isArchived: async (taskId) => (await entries()).has(taskId),
    list: entries,
  }
}

function refuseUnlessEnded(task: Task | null): void {
  if (task === null) throw noSuchTask()
  if (task.status === 'finished' || task.status === 'cancelled') return
  throw new Refusal('invalid_transition', `a task that is ${task.status} cannot be archived`)
}

function noSuchTask(): Refusal {
  return new Refusal('not_found', 'no such task')
}

async function readable(disk: Disk, path: string): Promise<ReadonlyMap<string, ArchiveEntry>> {
  try {
    return new Map(Object.entries((await readArchive(disk, path)).tasks))
  } catch (error) {
    if (isRefusal(error)) return new Map()
    throw error
  }
}

async function readArchive(disk: Disk, path: string): Promise<ArchiveFile> {
  const bytes = await disk.read(path, archiveBytesMax).catch((error: unknown) => {
    if (isRefusal(error, 'limit_exceeded')) throw new Refusal('corrupt_store', 'archive.json is too large')
    throw error
  })
  if (bytes === null) return { schema: 'openagents.coder.task-archive.v1', tasks: {} }
  const parsed = archiveSchema.safeParse(readStrict(bytes, archiveBytesMax, 'archive.json', 'corrupt_store'))
  if (!parsed.success || Object.keys(parsed.data.tasks).length > archiveEntriesMax) {
    throw new Refusal('corrupt_store', 'archive.json does not hold an archive')
  }
  return parsed.data
}

async function writeArchive(disk: Disk, path: string, tasks: ArchiveFile['tasks']): Promise<void> {
  const bytes = new TextEncoder().encode(
    JSON.stringify({ schema: 'openagents.coder.task-archive.v1', tasks }),
  )
  if (Object.keys(tasks).length > archiveEntriesMax || bytes.length > archiveBytesMax) {
    throw new Refusal('limit_exceeded', `the archive holds at most ${archiveEntriesMax} tasks`)
  }
  await disk.replace(path, bytes, { temporary: join(path, '..', '.archive.pending') })
}
