import { type Clock, nowSeconds, type Timer } from '../seams/clock.ts'
import type { Lease } from './journal-entry.ts'
import { isLive } from './leases.ts'

/** Timers for the leases that live, one for each task. */
export interface Lapses {
  /** Waits for the lapse of the lease that a task has now, in place of the one it had before. */
  expect(task: string, lease: Lease | null): void
  close(): void
}

/**
 * Says at once that a lease may have lapsed.
 * @param lapsed looks again and expects what it finds: a timer may run too early by host time, which is set and drifts
 */
export function createLapses(clock: Clock, lapsed: (task: string) => void): Lapses {
  const timers = new Map<string, Timer>()
  let closed = false

  return {
    expect(task, lease) {
      timers.get(task)?.cancel()
      timers.delete(task)
      if (closed || lease === null || !isLive(lease, nowSeconds(clock))) return
      const ms = lease.expires_at * 1_000 - clock.nowMs()
      const timer = clock.after(ms, () => {
        timers.delete(task)
        lapsed(task)
      })
      timers.set(task, timer)
    },
    close() {
      closed = true
      for (const timer of timers.values()) timer.cancel()
      timers.clear()
    },
  }
}
