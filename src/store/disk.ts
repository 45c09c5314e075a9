import { constants, lstatSync, watch } from 'node:fs'
import type { Disk, FileIdentity } from '../seams/disk.ts'
import { openAppendFile } from './append-file.ts'
import { closing } from './descriptor.ts'
import {
  checkPrivateDirectory,
  listDirectory,
  makePrivateDirectory,
  removeTree,
  syncAncestors,
} from './directory.ts'
import { createFile, removeFile, renameFile, replaceFile, syncFile } from './durable.ts'
import { errorCode, ioRefusal } from './failure.ts'
import { takeLock } from './locks.ts'
import { openPrivate, readAll } from './private-file.ts'

/** The machine's own disk. Node opens every descriptor close-on-exec, so no child inherits a file or a lock. */
export const realDisk: Disk = {
  read: readPrivate,
  replace: replaceFile,
  create: createFile,
  openAppend: (path, options) => openAppendFile(path, options?.exclusive ?? false),
  list: listDirectory,
  makeDirectory: makePrivateDirectory,
  syncAncestors,
  checkDirectory: checkPrivateDirectory,
  identity: identityOf,
  rename: renameFile,
  remove: removeFile,
  removeTree,
  sync: syncFile,
  lock: takeLock,
  watch: watchDirectory,
}

async function readPrivate(path: string, bytesMax: number): Promise<Uint8Array | null> {
  const fd = await openPrivate(path, constants.O_RDONLY)
  return fd === null ? null : closing(fd, () => readAll(fd, path, bytesMax))
}

async function identityOf(path: string): Promise<FileIdentity | null> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true })
    return { dev, ino, size, mtimeNs, ctimeNs }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw ioRefusal('look at', path, error)
  }
}

function watchDirectory(directory: string, changed: (name: string | null) => void): () => void {
  try {
    const watcher = watch(directory, { persistent: false }, (_event, name) => changed(name))
    // A watch that breaks tells nothing more; its last word is that anything may have changed.
    watcher.on('error', () => changed(null))
    return () => watcher.close()
  } catch (error) {
    throw ioRefusal('watch', directory, error)
  }
}
