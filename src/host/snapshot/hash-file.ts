import * as crypto from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { fstatSync, readSync } from 'node:fs'

/** Bytes read at once; a smaller file is hashed in one call. */
export const readChunkBytes = 1_048_576

/** A file's content as it was hashed. */
export interface HashedFile {
  readonly stat: BigIntStats
  /** Raw lowercase hex. */
  readonly sha256: string
}

/**
 * Hashes an open regular file, one chunk a step.
 * @returns null when it changed meanwhile: its length, times or permission bits differ before and after
 */
export function* hashFile(
  fd: number,
  before: BigIntStats,
  buffer: Buffer,
): Generator<void, HashedFile | null> {
  const size = Number(before.size)
  const sha256 = size < buffer.length ? hashAtOnce(fd, size, buffer) : yield* hashInChunks(fd, size, buffer)
  const after = fstatSync(fd, { bigint: true })
  const same =
    after.size === before.size &&
    after.mtimeNs === before.mtimeNs &&
    after.ctimeNs === before.ctimeNs &&
    after.mode === before.mode
  return same && sha256 !== null ? { stat: after, sha256 } : null
}

function hashAtOnce(fd: number, size: number, buffer: Buffer): string | null {
  let length = 0
  while (length < size) {
    const read = readSync(fd, buffer, length, buffer.length - length, length)
    if (read === 0) return null
    length += read
  }
  return length === size ? crypto.hash('sha256', buffer.subarray(0, length), 'hex') : null
}

function* hashInChunks(fd: number, size: number, buffer: Buffer): Generator<void, string | null> {
  const hash = crypto.createHash('sha256')
  let length = 0
  for (;;) {
    const read = readSync(fd, buffer, 0, buffer.length, length)
    if (read === 0) break
    length += read
    if (length > size) return null
    hash.update(buffer.subarray(0, read))
    yield
  }
  return length === size ? hash.digest('hex') : null
}
