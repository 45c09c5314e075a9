import { accessBookBytesMax, lastSeenSaveSeconds, storeWaitMs } from '../../limits.ts'
import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import { parseStrictJson } from '../../protocol/strict-json.ts'
import { type Clock, nowSeconds, type Timer } from '../../seams/clock.ts'
import type { Disk, FileIdentity } from '../../seams/disk.ts'
import type { HomePaths } from '../paths.ts'
import { nextDeath, prune } from './grants.ts'
import { type AccessRecord, accessRecord, emptyAccessRecord } from './record.ts'

/** A rule of the book: from what is true now to what is true next, with what to tell the caller. */
export type BookRule<T> = (record: AccessRecord, now: number) => { record: AccessRecord; value: T }

/** Who may do what. One writer; readers see the last record that is on disk (and `last_seen` as it is known). */
export interface AccessBook {
  /** Without what is to be dropped by now, whether or not a write has dropped it. Throws `unavailable` after a failed write whose result could not be read back. */
  read(): AccessRecord
  /** Applies `rule` and saves what it changed before it resolves. A rule that throws changes nothing. */
  change<T>(rule: BookRule<T>): Promise<T>
  /** Notes that a grant was heard; saved with the next change, within a minute at the latest. */
  seen(grant: string): void
  /** When a grant was heard since the last change was saved, Unix seconds. */
  heardAt(grant: string): number | null
  /** Saves what is only in memory. */
  close(): Promise<void>
}

/**
 * Opens the book of an initialised home.
 *
 * Refuses `corrupt_store` when the file is missing, unreadable, or of another host or owner: it is never recreated.
 * @see spec/wire.md §7
 */
export async function openAccessBook(
  disk: Disk,
  clock: Clock,
  paths: HomePaths,
  expected: { host: string; owner: string },
): Promise<AccessBook> {
  let loaded = await load(disk, paths, expected)
  let broken: Refusal | null = null
  let tail: Promise<unknown> = Promise.resolve()
  let saveSeen: Timer | null = null
  const heard = new Map<string, number>()
  let view = { of: loaded.record, record: loaded.record, until: 0 }

  const save = async <T>(rule: BookRule<T>): Promise<T> => {
    const lock = await disk.lock(paths.accessLock, storeWaitMs, { create: true })
    try {
      const identity = await disk.identity(paths.access)
      if (broken !== null || !sameFile(identity, loaded.identity)) {
        loaded = await load(disk, paths, expected)
        broken = null
      }
      const now = nowSeconds(clock)
      const current = prune(loaded.record, now)
      const { record, value } = rule(current, now)
      if (record === current) return value
      const next = prune(withSeen(record, heard), now)
      await write(next)
      return value
    } finally {
      await lock.release()
    }
  }

  const write = async (next: AccessRecord): Promise<void> => {
    try {
      await disk.replace(paths.access, encode(next))
      loaded = { record: next, identity: await disk.identity(paths.access) }
      heard.clear()
    } catch (error) {
      broken = new Refusal('unavailable', 'the access book could not be written', { cause: error })
      loaded = await load(disk, paths, expected)
      broken = null
      throw error
    }
  }

  const change = <T>(rule: BookRule<T>): Promise<T> => {
    const done = tail.then(() => save(rule))
    tail = done.catch(() => undefined)
    return done
  }

  const flushSeen = async (): Promise<void> => {
    saveSeen?.cancel()
    saveSeen = null
    if (heard.size > 0) await change((record) => ({ record: { ...record }, value: undefined }))
  }

  return {
    read() {
      if (broken !== null) throw broken
      const now = nowSeconds(clock)
      if (view.of !== loaded.record || view.until <= now) {
        const record = prune(loaded.record, now)
        view = { of: loaded.record, record, until: nextDeath(record) }
      }
      return view.record
    },
    change,
    seen(grant) {
      heard.set(grant, nowSeconds(clock))
      saveSeen ??= clock.after(lastSeenSaveSeconds * 1000, () => {
        saveSeen = null
        flushSeen().catch(() => undefined)
      })
    },
    heardAt: (grant) => heard.get(grant) ?? null,
    async close() {
      await flushSeen()
      await tail
    },
  }
}

/** Reads the book without opening it for change. Refuses as `openAccessBook` does. */
export async function readAccessBook(
  disk: Disk,
  paths: HomePaths,
  expected: { host: string; owner: string },
): Promise<AccessRecord> {
  return (await load(disk, paths, expected)).record
}

/** Writes the first, empty book. Only `initHome` calls it, and only while the home has no settings yet. */
export async function createAccessBook(
  disk: Disk,
  paths: HomePaths,
  host: string,
  owner: string,
): Promise<void> {
  await disk.replace(paths.access, encode(emptyAccessRecord(host, owner)))
}

interface Loaded {
  readonly record: AccessRecord
  readonly identity: FileIdentity | null
}

async function load(
  disk: Disk,
  paths: HomePaths,
  expected: { host: string; owner: string },
): Promise<Loaded> {
  const identity = await disk.identity(paths.access)
  const bytes = await disk.read(paths.access, accessBookBytesMax)
  if (bytes === null) throw corrupt('host/access.json is missing from an initialised home')
  const record = decode(bytes)
  if (record.host !== expected.host) throw corrupt('host/access.json belongs to another host key')
  if (record.owner !== expected.owner) throw corrupt('host/access.json belongs to another owner')
  return { record, identity }
}

function decode(bytes: Uint8Array): AccessRecord {
  try {
    const { value, looseIntegers } = parseStrictJson(bytes, { bytesMax: accessBookBytesMax })
    const parsed = accessRecord.safeParse(value)
    if (parsed.success && looseIntegers.length === 0) return parsed.data
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
  throw corrupt('host/access.json does not read as an access book')
}

function corrupt(message: string): Refusal {
  return new Refusal('corrupt_store', message, {
    hint: 'put back the file from a backup; Drawbridge never makes an empty one in its place',
  })
}

function encode(record: AccessRecord): Uint8Array {
  const bytes = new TextEncoder().encode(`${JSON.stringify(record)}\n`)
  if (bytes.length > accessBookBytesMax) throw new Refusal('bounds', 'the access book is full')
  return bytes
}

function withSeen(record: AccessRecord, heard: ReadonlyMap<string, number>): AccessRecord {
  if (heard.size === 0) return record
  return {
    ...record,
    grants: record.grants.map((entry) => {
      const at = heard.get(entry.grant.grant)
      return at === undefined ? entry : { ...entry, last_seen: at }
    }),
  }
}

function sameFile(one: FileIdentity | null, other: FileIdentity | null): boolean {
  if (one === null || other === null) return one === other
  return (
    one.dev === other.dev &&
    one.ino === other.ino &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs
  )
}
