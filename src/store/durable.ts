import { constants } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from '../protocol/refusal.ts'
import type { FileContent, ReplaceOptions } from '../seams/disk.ts'
import { closing, openFile, renamePath, syncAll, unlinkPath, writeAll } from './descriptor.ts'
import { errorCode, ioRefusal, unsafePath } from './failure.ts'
import { createPrivate, openPrivate } from './private-file.ts'

/**
 * Puts `content` at `path` so that a crash leaves either the old file or the new one, whole.
 *
 * A temporary left by an earlier crash is replaced.
 * @throws `io` when a step fails; what is on disk is then in doubt. What `meanwhile` throws, unchanged.
 */
export async function replaceFile(
  path: string,
  content: FileContent,
  { temporary, meanwhile }: ReplaceOptions = {},
): Promise<void> {
  const pending = temporary ?? join(dirname(path), `.${basename(path)}.tmp`)
  const [written, beside] = await Promise.allSettled([writeNew(pending, content), meanwhile?.()])
  try {
    if (beside.status === 'rejected') throw beside.reason
    if (written.status === 'rejected') throw ioRefusal('replace', path, written.reason)
    await renamePath(pending, path).catch((error: unknown) => {
      throw ioRefusal('replace', path, error)
    })
  } catch (error) {
    await unlinkPath(pending).catch(() => {})
    throw error
  }
  await syncDirectory(dirname(path))
}

/** Creates a private file holding `bytes`; false when something is already there, which is left alone. */
export async function createFile(path: string, bytes: Uint8Array): Promise<boolean> {
  const fd = await createPrivate(path, constants.O_WRONLY)
  if (fd === null) return false
  try {
    await writeAndSync(fd, bytes)
  } catch (error) {
    await unlinkPath(path).catch(() => {})
    throw ioRefusal('create', path, error)
  }
  await syncDirectory(dirname(path))
  return true
}

/** Moves a file or directory, replacing a file at `to`, and syncs the directories of both. */
export async function renameFile(from: string, to: string): Promise<void> {
  try {
    await renamePath(from, to)
  } catch (error) {
    throw ioRefusal('rename', from, error)
  }
  await syncDirectory(dirname(to))
  if (dirname(from) !== dirname(to)) await syncDirectory(dirname(from))
}

/** Removes a file and syncs its directory. @returns false when there was none */
export async function removeFile(path: string): Promise<boolean> {
  try {
    await unlinkPath(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw ioRefusal('remove', path, error)
  }
  await syncDirectory(dirname(path))
  return true
}

/** Syncs an existing private file and its directory. */
export async function syncFile(path: string): Promise<void> {
  const fd = await openPrivate(path, constants.O_RDONLY)
  if (fd === null) throw new Refusal('io', `${path} is gone`)
  try {
    await closing(fd, syncAll)
  } catch (error) {
    throw ioRefusal('sync', path, error)
  }
  await syncDirectory(dirname(path))
}

/** Makes the names in a directory durable. @throws `unsafe_path` when it is a link or no directory */
export async function syncDirectory(path: string): Promise<void> {
  try {
    await closing(await openFile(path, directoryFlags), syncAll)
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR' || errorCode(error) === 'ELOOP') {
      throw unsafePath(path, 'is not a real directory')
    }
    throw ioRefusal('sync', path, error)
  }
}

const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Writes a temporary file of its own, over whatever an earlier crash left there, and syncs it. */
async function writeNew(path: string, content: FileContent): Promise<void> {
  await writeAndSync(await createOver(path), content)
}

async function createOver(path: string): Promise<number> {
  const fd = await createPrivate(path, constants.O_WRONLY)
  if (fd !== null) return fd
  try {
    await unlinkPath(path)
  } catch (error) {
    throw ioRefusal('remove', path, error)
  }
  const second = await createPrivate(path, constants.O_WRONLY)
  if (second === null) throw new Refusal('io', `${path} was created by another process`)
  return second
}

function writeAndSync(fd: number, content: FileContent): Promise<void> {
  return closing(fd, async () => {
    for (const piece of content instanceof Uint8Array ? [content] : content) await writeAll(fd, piece)
    await syncAll(fd)
  })
}
