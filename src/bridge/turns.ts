import type { Clock, Timer } from '../seams/clock.ts'

/** Work that can wait, done so many at once and then one at a time. */
export interface Turns {
  /**
   * Runs `work` when its turn comes, in the order of asking. Whoever asks under a key that still waits shares that
   * turn. False, and nothing done, once it is closed.
   * @param work must not reject
   */
  take(key: string, work: () => Promise<boolean>): Promise<boolean>
  close(): void
}

export interface TurnBounds {
  /** Turns that are given without waiting after a quiet while. */
  readonly atOnce: number
  /** How long a turn that was given takes to come back. */
  readonly everyMs: number
}

interface Waiting {
  readonly turn: Promise<boolean>
  readonly begin: () => void
  readonly giveUp: () => void
}

export function createTurns(clock: Clock, { atOnce, everyMs }: TurnBounds): Turns {
  const waiting = new Map<string, Waiting>()
  let left = atOnce
  let countedAt = clock.nowMs()
  let timer: Timer | null = null
  let closed = false

  const refill = (): void => {
    const now = clock.nowMs()
    // A clock that was set back gives no turns away, and one that jumped gives no more than are given at once.
    left = Math.min(atOnce, left + Math.max(0, now - countedAt) / everyMs)
    countedAt = now
  }

  const pump = (): void => {
    timer?.cancel()
    timer = null
    refill()
    for (const [key, { begin }] of waiting) {
      if (left < 1) break
      left -= 1
      waiting.delete(key)
      begin()
    }
    if (waiting.size > 0) timer = clock.after(everyMs, pump)
  }

  return {
    take(key, work) {
      if (closed) return Promise.resolve(false)
      const known = waiting.get(key)
      if (known !== undefined) return known.turn
      let decide: (goes: boolean) => void = () => {}
      const decided = new Promise<boolean>((resolve) => {
        decide = resolve
      })
      const turn = decided.then((goes) => goes && work())
      waiting.set(key, { turn, begin: () => decide(true), giveUp: () => decide(false) })
      pump()
      return turn
    },
    close() {
      closed = true
      timer?.cancel()
      for (const { giveUp } of waiting.values()) giveUp()
      waiting.clear()
    },
  }
}
