import { join } from 'node:path'
import { journalBytesMax, storeWaitMs } from '../limits.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { Disk, DiskLock, FileIdentity } from '../seams/disk.ts'
import { isSameIdentity } from '../store/tasks/same-identity.ts'
import { createAssembler, type JournalFile, parseJournal } from './journal-file.ts'
import type { CommandLog } from './log.ts'

/** `commands.json` and its write lock, as files. */
export interface JournalStore {
  /**
   * Reads the journal, creating an empty one where there never was one, and makes sure that what it read survives a
   * crash. Refuses `unavailable` when it is missing, malformed or cannot be read; it is then left as it is.
   */
  load(): Promise<JournalFile>
  /** Replaces the journal. `assemble` is called as late as possible. */
  write(assemble: () => Uint8Array): Promise<void>
  /** Refuses `unavailable` when somebody else changed the file since it was last read or written. */
  check(): Promise<void>
}

/** Reads the journal without a lock: the last complete one, or null where there is none. */
export async function readJournal(disk: Disk, dir: string): Promise<JournalFile | null> {
  const bytes = await disk.read(join(dir, 'commands.json'), journalBytesMax)
  return bytes === null ? null : parseJournal(bytes)
}

/**
 * Puts a copy of the journal in `from` in `to`, durably. Nothing is made where there never was one. Refuses
 * `unavailable` when one was lost.
 */
export async function carryJournal(disk: Disk, from: string, to: string): Promise<void> {
  const bytes = await disk.read(join(from, 'commands.json'), journalBytesMax)
  if (bytes !== null) await disk.replace(join(to, 'commands.json'), bytes)
  else if ((await disk.identity(join(from, 'commands.lock'))) !== null) throw unavailable('is missing')
}

/** The journal files of a task store's directory. @see spec/commands.md §1 */
export function journalStore(disk: Disk, dir: string, log: CommandLog): JournalStore {
  const path = join(dir, 'commands.json')
  const lockPath = join(dir, 'commands.lock')
  let known: FileIdentity | null = null
  let refused: { readonly identity: FileIdentity | null; readonly refusal: Refusal } | null = null

  const locked = async <T>(work: (lock: DiskLock) => Promise<T>): Promise<T> => {
    const lock = await disk.lock(lockPath, storeWaitMs, { create: true })
    try {
      return await work(lock)
    } finally {
      await lock.release()
    }
  }

  const checkUnchanged = async (): Promise<void> => {
    if (!same(await disk.identity(path), known)) throw unavailable('was changed by another program')
  }

  const load = async (): Promise<JournalFile> => {
    // The journal comes before its lock, so a lock without a journal says that one was lost.
    if ((await disk.identity(path)) === null) {
      if ((await disk.identity(lockPath)) !== null) throw unavailable('is missing')
      await disk.replace(path, createAssembler()([], []))
    }
    return await locked(async () => {
      const bytes = await disk.read(path, journalBytesMax)
      if (bytes === null) throw unavailable('is missing')
      const file = parseJournal(bytes)
      // What the last process renamed may not be durable yet, and replays are answered without a write.
      await disk.sync(path)
      known = await disk.identity(path)
      return file
    })
  }

  return {
    async load() {
      const identity = await disk.identity(path).catch(() => null)
      if (refused !== null && same(refused.identity, identity)) throw refused.refusal
      try {
        const file = await load()
        refused = null
        return file
      } catch (cause) {
        const lasts = isLasting(cause)
        const refusal = lasts ? untilPutBack(asUnavailable(cause), path) : asUnavailable(cause)
        refused = lasts ? { identity, refusal } : null
        log.error('the command journal refuses every command', { file: path, reason: refusal.message })
        throw refusal
      }
    },
    write: (assemble) =>
      locked(async () => {
        await checkUnchanged()
        const bytes = assemble()
        if (bytes.length > journalBytesMax) throw unavailable('would pass its bound')
        await disk.replace(path, bytes)
        known = await disk.identity(path)
      }),
    async check() {
      await checkUnchanged()
    },
  }
}

/** Every failure of the journal's files is `unavailable` to those who send commands. */
export function asUnavailable(cause: unknown): Refusal {
  if (isRefusal(cause, 'unavailable')) return cause
  if (!(cause instanceof Refusal)) throw cause
  return new Refusal('unavailable', `the command journal: ${cause.message}`, { cause })
}

/** Whether only another file at its place can help, so that reading this one again is pointless. */
function isLasting(cause: unknown): boolean {
  return isRefusal(cause, 'unavailable') || isRefusal(cause, 'limit_exceeded')
}

/** Says which file it is and what ends it: nothing else does. */
function untilPutBack({ message, cause }: Refusal, path: string): Refusal {
  const until = `no command is taken until ${path} is put back from a backup`
  return new Refusal('unavailable', `${message}: ${until}`, cause === undefined ? {} : { cause })
}

function unavailable(why: string): Refusal {
  return new Refusal('unavailable', `the command journal ${why}`)
}

function same(one: FileIdentity | null, other: FileIdentity | null): boolean {
  return one === null || other === null ? one === other : isSameIdentity(one, other)
}
