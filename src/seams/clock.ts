/** A pending timer. */
export interface Timer {
  /** Stops it; after its call this does nothing. */
  cancel(): void
}

/** Host time and timers. The only way the product learns what time it is. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number
  /** Calls `run` once, no sooner than `ms` milliseconds from now. A pending timer keeps the process alive. */
  after(ms: number, run: () => void): Timer
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Host time in whole Unix seconds, as every body on the wire carries it. */
export function nowSeconds(clock: Clock): number {
  return Math.floor(clock.nowMs() / 1000)
}

/** Resolves after `ms` milliseconds of `clock`. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve)
  })
}

/** Resolves once everything else that is ready has had its turn. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/**
 * Lets a few callers through in each round of the event loop, the first at once: when many things happen together, what
 * follows from them does not hold up everything else until the last is done.
 * @param perRound how many
 */
export function fewAtOnce(perRound: number): () => Promise<void> {
  const waiting: (() => void)[] = []
  let left = perRound
  let isCounting = false

  const nextRound = (): void => {
    const through = waiting.splice(0, perRound)
    left = perRound - through.length
    isCounting = through.length > 0
    if (isCounting) setImmediate(nextRound)
    for (const go of through) go()
  }

  return () => {
    if (!isCounting) {
      isCounting = true
      left = perRound
      setImmediate(nextRound)
    }
    if (left === 0) return new Promise((resolve) => waiting.push(resolve))
    left -= 1
    return Promise.resolve()
  }
}
