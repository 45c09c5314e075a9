import type { Clock } from '../../src/seams/clock.ts'

/** The machine's clock, so many milliseconds ahead; its timers run at their own pace. */
export interface AheadClock extends Clock {
  aheadMs: number
}

export function aheadClock(): AheadClock {
  const clock: AheadClock = {
    aheadMs: 0,
    nowMs: () => Date.now() + clock.aheadMs,
    after(ms, run) {
      const timer = setTimeout(run, ms)
      return { cancel: () => clearTimeout(timer) }
    },
  }
  return clock
}
