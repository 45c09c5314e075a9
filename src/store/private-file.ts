import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { reopenTriesMax } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { pause, systemClock } from '../seams/clock.ts'
import { openFile, readInto } from './descriptor.ts'
import { errorCode, ioRefusal, unsafePath } from './failure.ts'

/** What opening a private file needs beside the access mode. A fifo must not block us, a link must not lead us. */
const privateFlags = constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Why `stats` is not a private file of ours, or null when it is one. @see spec/store.md §7 */
export function fileFault(stats: BigIntStats): string | null {
  if (!stats.isFile()) return 'is not a regular file'
  if ((stats.mode & 0o077n) !== 0n) return 'is accessible to others'
  if (stats.nlink > 1n) return 'has more than one hard link'
  return ownerFault(stats)
}

/** Why `stats` does not belong to the user we run as, or null when it does. */
export function ownerFault(stats: BigIntStats): string | null {
  return stats.uid === BigInt(process.geteuid?.() ?? 0) ? null : 'belongs to another user'
}

/**
 * Opens an existing private file and proves that the path still names what was opened.
 *
 * A file that was atomically replaced between the two looks is opened again, at most 200 times, 1 ms apart.
 * @returns a descriptor; null when there is nothing at `path`
 * @throws `unsafe_path` when it is no private file of ours; `io` when the system refuses
 */
export async function openPrivate(path: string, access: number): Promise<number | null> {
  for (let attempt = 0; attempt < reopenTriesMax; attempt += 1) {
    if (attempt > 0) await pause(systemClock, 1)
    const fd = openOrNull(path, access)
    if (fd === null) return null
    let same = false
    try {
      same = namesDescriptor(path, fd)
    } finally {
      if (!same) closeSync(fd)
    }
    if (same) return fd
  }
  throw unsafePath(path, 'keeps being replaced')
}

/** Creates a private file exclusively. @returns a descriptor; null when something is at `path` already */
export async function createPrivate(path: string, access: number): Promise<number | null> {
  try {
    return await openFile(path, access | privateFlags | constants.O_CREAT | constants.O_EXCL, 0o600)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return null
    throw ioRefusal('create', path, error)
  }
}

/**
 * Whether `path` names, without a link, the private file that is open as `fd`.
 * @returns false when it has come to name another file, or none
 * @throws `unsafe_path` when either is no private file of ours
 */
export function namesDescriptor(path: string, fd: number): boolean {
  try {
    const opened = fstatSync(fd, { bigint: true })
    const fault = fileFault(opened)
    if (fault !== null) throw unsafePath(path, fault)
    const named = lstatSync(path, { bigint: true })
    if (!named.isFile()) throw unsafePath(path, 'is not a regular file')
    return named.dev === opened.dev && named.ino === opened.ino
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw ioRefusal('check', path, error)
  }
}

/** Everything in an open file. @throws `limit_exceeded` past `bytesMax` bytes */
export async function readAll(fd: number, path: string, bytesMax: number): Promise<Uint8Array> {
  try {
    const { size } = fstatSync(fd)
    // One byte more than expected, so that a file that grew meanwhile is noticed.
    let bytes = new Uint8Array(Math.min(size, bytesMax) + 1)
    let length = 0
    for (;;) {
      const count = await readInto(fd, bytes, length)
      length += count
      if (length > bytesMax) throw new Refusal('limit_exceeded', `${path} is larger than ${bytesMax} bytes`)
      if (count === 0 || length === size) return bytes.subarray(0, length)
      if (length === bytes.length) bytes = grown(bytes, bytesMax)
    }
  } catch (error) {
    throw ioRefusal('read', path, error)
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, bytesMax: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(bytes.length * 2, bytesMax + 1))
  larger.set(bytes)
  return larger
}

function openOrNull(path: string, access: number): number | null {
  try {
    return openSync(path, access | privateFlags)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return null
    if (code === 'ELOOP') throw unsafePath(path, 'is a symbolic link')
    // A socket, a fifo nobody reads and a directory opened for writing fail with their own words.
    if (code === 'ENXIO' || code === 'EISDIR') throw unsafePath(path, 'is not a regular file')
    throw ioRefusal('open', path, error)
  }
}
