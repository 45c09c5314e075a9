import { closeSync, constants } from 'node:fs'
import { lockPollMs } from '../limits.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { pause, systemClock } from '../seams/clock.ts'
import type { DiskLock } from '../seams/disk.ts'
import { createFile } from './durable.ts'
import { ioRefusal, unsafePath } from './failure.ts'
import { joinQueue } from './lock-queue.ts'
import { createPrivate, namesDescriptor, openPrivate } from './private-file.ts'

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

async function openLockFile(path: string, options: LockOptions): Promise<number> {
  for (;;) {
    const fd = await openPrivate(path, constants.O_RDWR)
    if (fd !== null) return fd
    if (options.create !== true) throw new Refusal('io', `${path} is missing`)
    if (options.volatile === true) await createUnsynced(path)
    else await createFile(path, new Uint8Array(0))
  }
}

async function createUnsynced(path: string): Promise<void> {
  const fd = await createPrivate(path, constants.O_RDWR)
  if (fd !== null) closeSync(fd)
}

function isStillThere(fd: number, path: string): boolean {
  try {
    return namesDescriptor(path, fd)
  } catch (error) {
    if (isRefusal(error, 'unsafe_path')) return false
    throw error
  }
}

let binding: Promise<(fd: number) => boolean> | null = null

/** Loaded at the first lock, so that a command that takes none starts without native code. */
function lockBinding(): Promise<(fd: number) => boolean> {
  binding ??= import('fs-native-extensions').then(
    ({ tryLock }) =>
      (fd) =>
        tryLock(fd),
    (cause: unknown) => {
      const why = 'kernel file locks are not available on this platform: a Linux with glibc is needed'
      throw new Refusal('io', why, { cause })
    },
  )
  return binding
}
