import lockfile from 'proper-lockfile'
import { storeWaitMs } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { type Clock, pause } from '../seams/clock.ts'
import { errorCode, ioRefusal } from './failure.ts'

const pollMs = 50

/**
 * Holds the lock of a small settings file while `work` reads it and writes it anew. Only for settings: a killed
 * holder blocks others for ten seconds, and one that was merely stopped loses its lock, so nothing that must not be
 * lost hangs on it. What guards that is held by the kernel.
 *
 * Refuses `store_busy` when somebody else still holds it after 5 s, and as `work` does.
 * @param path absolute; the file need not exist, its directory must
 */
export async function withSettingsLock<T>(clock: Clock, path: string, work: () => Promise<T>): Promise<T> {
  const release = await take(clock, path)
  try {
    return await work()
  } finally {
    await release()
  }
}

async function take(clock: Clock, path: string): Promise<() => Promise<void>> {
  const deadline = clock.nowMs() + storeWaitMs
  for (;;) {
    try {
      return await lockfile.lock(path, { realpath: false })
    } catch (cause) {
      if (errorCode(cause) !== 'ELOCKED') throw ioRefusal('lock', path, cause)
      if (clock.nowMs() >= deadline) {
        throw new Refusal('store_busy', `${path} is being changed by another program`, { cause })
      }
      await pause(clock, pollMs)
    }
  }
}
