import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Refusal } from '../protocol/refusal.ts'
import type { AppendFile } from '../seams/disk.ts'
import { syncDirectory } from './durable.ts'
import { ioRefusal } from './failure.ts'
import { createPrivate, openPrivate } from './private-file.ts'

/**
 * Opens a private file that grows by whole records; it is created, durably, if absent.
 * @param exclusive refuse `io` when the file exists
 */
export async function openAppendFile(path: string, exclusive: boolean): Promise<AppendFile> {
  const handle = await openOrCreate(path, exclusive)
  return {
    async append(bytes) {
      const start = await sizeOf(handle, path)
      try {
        await writeAll(handle, bytes)
        await handle.datasync()
      } catch (error) {
        // The next record must never be glued to half of this one.
        await cut(handle, start).catch(() => {})
        throw ioRefusal('append to', path, error)
      }
    },
    async truncate(length) {
      await cut(handle, length).catch((error: unknown) => {
        throw ioRefusal('truncate', path, error)
      })
    },
    size: () => sizeOf(handle, path),
    close: () => handle.close(),
  }
}

const access = constants.O_RDWR | constants.O_APPEND

async function openOrCreate(path: string, exclusive: boolean): Promise<FileHandle> {
  for (;;) {
    const existing = exclusive ? null : await openPrivate(path, access)
    if (existing !== null) return existing
    const created = await createPrivate(path, access)
    if (created !== null) {
      await syncDirectory(dirname(path))
      return created
    }
    if (exclusive) throw new Refusal('io', `${path} exists already`)
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written)
    written += bytesWritten
  }
}

async function cut(handle: FileHandle, length: number): Promise<void> {
  await handle.truncate(length)
  await handle.datasync()
}

async function sizeOf(handle: FileHandle, path: string): Promise<number> {
  try {
    return (await handle.stat()).size
  } catch (error) {
    throw ioRefusal('check', path, error)
  }
}
