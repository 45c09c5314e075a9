import { keyFileBytesMax, serveWaitMs } from '../limits.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { Disk, DiskLock } from '../seams/disk.ts'
import type { HomePaths } from './paths.ts'

/**
 * Takes the lock that makes a process the one service of its home; the kernel frees it when the process dies.
 *
 * Refuses `already_running`, naming the process that holds it. A command that works directly on the files holds it
 * for a moment too, so it is waited for a second.
 */
export async function takeServiceLock(disk: Disk, paths: HomePaths, pid: number): Promise<DiskLock> {
  let lock: DiskLock
  try {
    lock = await disk.lock(paths.serveLock, serveWaitMs, { create: true })
  } catch (error) {
    if (!isRefusal(error, 'store_busy')) throw error
    throw await alreadyRunning(disk, paths)
  }
  await disk.replace(paths.pid, new TextEncoder().encode(`${pid}\n`))
  return lock
}

/** The process that wrote the pid file last, or null. It may be gone: only the lock says whether a service runs. */
export async function readServicePid(disk: Disk, paths: HomePaths): Promise<number | null> {
  const bytes = await disk.read(paths.pid, keyFileBytesMax)
  const digits = bytes === null ? null : /^(\d{1,10})\n$/.exec(Buffer.from(bytes).toString('latin1'))
  return digits?.[1] === undefined ? null : Number(digits[1])
}

async function alreadyRunning(disk: Disk, paths: HomePaths): Promise<Refusal> {
  const pid = await readServicePid(disk, paths)
  const who = pid === null ? 'another process' : `process ${pid}`
  return new Refusal('already_running', `${who} already serves this home`, { hint: 'drawbridge status' })
}
