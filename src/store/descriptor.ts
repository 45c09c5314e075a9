import { closeSync, fdatasync, fsync, ftruncate, open, read, rename, unlink, write } from 'node:fs'
import { promisify } from 'node:util'

/**
 * File calls on plain descriptors. What may wait for the disk runs beside the event loop; closing, and looking at
 * what the kernel already knows, takes microseconds and is done at once, which spares most of the hops between threads
 * that a durable write would otherwise pay for.
 */
export const openFile = promisify(open)
export const syncData = promisify(fdatasync)
export const syncAll = promisify(fsync)
export const truncateFile = promisify(ftruncate)
export const renamePath = promisify(rename)
export const unlinkPath = promisify(unlink)

const readSome = promisify(read)
const writeSome = promisify(write)

/** Writes all of `bytes` where the descriptor stands. */
export async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    const { bytesWritten } = await writeSome(fd, bytes, written, bytes.length - written, null)
    written += bytesWritten
  }
}

/** Reads into `bytes` from `place` on, at the same place of the file. @returns how many bytes; 0 at the end */
export async function readInto(fd: number, bytes: Uint8Array, place: number): Promise<number> {
  const { bytesRead } = await readSome(fd, bytes, place, bytes.length - place, place)
  return bytesRead
}

/** Runs `work` with an open descriptor and closes it, whatever happens. */
export async function closing<T>(fd: number, work: (fd: number) => Promise<T>): Promise<T> {
  try {
    return await work(fd)
  } finally {
    closeSync(fd)
  }
}
