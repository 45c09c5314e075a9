import { type Clock, systemClock } from '../../src/seams/clock.ts'

/** The machine's clock with an offset that a test moves; its timers stay the machine's. */
export interface MovableClock extends Clock {
  advance(ms: number): void
  reset(): void
}

export function movableClock(): MovableClock {
  let offsetMs = 0
  return {
    nowMs: () => systemClock.nowMs() + offsetMs,
    after: systemClock.after,
    advance(ms) {
      offsetMs += ms
    },
    reset() {
      offsetMs = 0
    },
  }
}
