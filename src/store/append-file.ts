import { closeSync, constants, fstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { Refusal } from '../protocol/refusal.ts'
import type { AppendFile } from '../seams/disk.ts'
import { syncData, truncateFile, writeAll } from './descriptor.ts'
import { syncDirectory } from './durable.ts'
import { ioRefusal } from './failure.ts'
import { createPrivate, openPrivate } from './private-file.ts'

/**
 * Opens a private file that grows by whole records; it is created, durably, if absent.
 * @param exclusive refuse `io` when the file exists
 */
export async function openAppendFile(path: string, exclusive: boolean): Promise<AppendFile> {
  const fd = await openOrCreate(path, exclusive)
  let open = true
  const size = () => {
    if (!open) throw new Refusal('io', `${path} is closed`)
    return fstatSync(fd).size
  }
  return {
    async append(bytes) {
      const start = size()
      try {
        await writeAll(fd, bytes)
        await syncData(fd)
      } catch (error) {
        // The next record must never be glued to half of this one.
        await cut(fd, start).catch(() => {})
        throw ioRefusal('append to', path, error)
      }
    },
    async truncate(length) {
      if (length > size()) throw new Refusal('io', `${path} is shorter than what is to be kept of it`)
      await cut(fd, length).catch((error: unknown) => {
        throw ioRefusal('truncate', path, error)
      })
    },
    size: async () => size(),
    async close() {
      if (!open) return
      open = false
      closeSync(fd)
    },
  }
}

const access = constants.O_RDWR | constants.O_APPEND

async function openOrCreate(path: string, exclusive: boolean): Promise<number> {
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

async function cut(fd: number, length: number): Promise<void> {
  await truncateFile(fd, length)
  await syncData(fd)
}
