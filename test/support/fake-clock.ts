import type { Clock, Timer } from '../../src/seams/clock.ts'

/** A clock that only moves when told to. */
export interface FakeClock extends Clock {
  /** Moves time on by `ms`, running every timer that falls due, in order, and letting promises settle between them. */
  advance(ms: number): Promise<void>
  /** Steps the wall clock without running timers, as a person setting the time does. */
  jump(ms: number): void
  pending(): number
}

/** @param settle waits, between two timers, for what the first one set off */
export function fakeClock(startMs = 1_795_000_000_000, settle = settlePromises): FakeClock {
  let nowMs = startMs
  let order = 0
  const timers = new Map<Timer, { at: number; order: number; run: () => void }>()

  const nextDue = (until: number): Timer | null => {
    let best: Timer | null = null
    let bestAt = Number.POSITIVE_INFINITY
    let bestOrder = 0
    for (const [timer, entry] of timers) {
      if (entry.at > until) continue
      if (entry.at < bestAt || (entry.at === bestAt && entry.order < bestOrder)) {
        best = timer
        bestAt = entry.at
        bestOrder = entry.order
      }
    }
    return best
  }

  return {
    nowMs: () => nowMs,
    after(ms, run) {
      order += 1
      const timer: Timer = { cancel: () => void timers.delete(timer) }
      timers.set(timer, { at: nowMs + Math.max(0, ms), order, run })
      return timer
    },
    async advance(ms) {
      const until = nowMs + ms
      await settle()
      for (let timer = nextDue(until); timer !== null; timer = nextDue(until)) {
        const entry = timers.get(timer)
        timers.delete(timer)
        if (entry === undefined) continue
        nowMs = Math.max(nowMs, entry.at)
        entry.run()
        await settle()
      }
      nowMs = until
    },
    jump(ms) {
      nowMs += ms
    },
    pending: () => timers.size,
  }
}

/** Lets every promise that is already resolved run its continuations. */
async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  await new Promise<void>((resolve) => setImmediate(resolve))
}
