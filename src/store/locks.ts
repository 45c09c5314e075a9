import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { lockPollMs } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { pause, systemClock } from '../seams/clock.ts'
import type { DiskLock } from '../seams/disk.ts'
import { createFile } from './durable.ts'
import { errorCode, ioRefusal, unsafePath } from './failure.ts'
import { joinQueue } from './lock-queue.ts'
import { createPrivate, fileFault, privateFlags } from './private-file.ts'

/** How a lock file that is absent is made. */
interface LockOptions {
  readonly create?: boolean
  readonly volatile?: boolean
}

/**
 * Takes an exclusive kernel lock (an open file description lock) on a stable private file.
 *
 * It excludes other processes and other callers of this one, outlives a stopped holder, and is free the moment its
 * holder dies. The few calls on the way are synchronous: each takes microseconds, and a lock is often the whole
 * critical path.
 * @param waitMs how long to wait for the holder, in milliseconds; 0 only tries
 * @param options `create`: make the file when it is absent, durably unless `volatile`
 * @throws `store_busy` when it is still held then; `unsafe_path` when the file is not private or was replaced;
 * `io` when it is absent and not to be created
 * @see spec/store.md §8
 */
export async function takeLock(path: string, waitMs: number, options: LockOptions = {}): Promise<DiskLock> {
  const tryLock = await lockBinding()
  const deadline = performance.now() + waitMs
  const leave = await joinQueue(path, waitMs)
  if (leave === null) throw busy(path)
  let fd: number | null = null
  try {
    fd = await openLockFile(path, options)
    while (!tryLock(fd)) {
      if (performance.now() >= deadline) throw busy(path)
      await pause(systemClock, lockPollMs)
    }
    if (!isStillThere(fd, path)) throw unsafePath(path, 'was replaced while it was being locked')
    return heldLock(path, fd, leave)
  } catch (error) {
    if (fd !== null) closeSync(fd)
    leave()
    throw ioRefusal('lock', path, error)
  }
}

function heldLock(path: string, fd: number, leave: () => void): DiskLock {
  let held = true
  return {
    path,
    stillThere: async () => held && isStillThere(fd, path),
    async release() {
      if (!held) return
      held = false
      closeSync(fd)
      leave()
    },
  }
}

function busy(path: string): Refusal {
  return new Refusal('store_busy', `${path} is held by another process`)
}

async function openLockFile(
  path: string,
  { create = false, volatile = false }: LockOptions,
): Promise<number> {
  for (;;) {
    try {
      const fd = openSync(path, constants.O_RDWR | privateFlags)
      const fault = fileFault(fstatSync(fd, { bigint: true }))
      if (fault === null) return fd
      closeSync(fd)
      throw unsafePath(path, fault)
    } catch (error) {
      const code = errorCode(error)
      if (code === 'ELOOP') throw unsafePath(path, 'is a symbolic link')
      if (code === 'EISDIR' || code === 'ENXIO') throw unsafePath(path, 'is not a regular file')
      if (code !== 'ENOENT' || !create) throw ioRefusal('open', path, error)
    }
    if (volatile) await createUnsynced(path)
    else await createFile(path, new Uint8Array(0))
  }
}

async function createUnsynced(path: string): Promise<void> {
  const handle = await createPrivate(path, constants.O_RDWR)
  await handle?.close()
}

function isStillThere(fd: number, path: string): boolean {
  try {
    const held = fstatSync(fd, { bigint: true })
    const named = lstatSync(path, { bigint: true })
    return named.isFile() && named.dev === held.dev && named.ino === held.ino && fileFault(named) === null
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw ioRefusal('check', path, error)
  }
}

/** Loaded at the first lock, so that a command that takes none starts without native code. */
async function lockBinding(): Promise<(fd: number) => boolean> {
  try {
    const binding = await import('fs-native-extensions')
    return (fd) => binding.tryLock(fd)
  } catch (cause) {
    throw new Refusal(
      'io',
      'kernel file locks are not available on this platform (a glibc Linux is needed)',
      {
        cause,
      },
    )
  }
}
