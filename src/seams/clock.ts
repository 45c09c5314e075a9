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
 * Lets one caller through in each round of the event loop, the first at once: when many things end together, what
 * follows from them does not hold up everything else until the last is done.
 */
export function oneByOne(): () => Promise<void> {
  let next: Promise<void> | null = null
  return () => {
    const mine = next ?? Promise.resolve()
    const after = mine.then(breathe)
    next = after
    void after.then(() => {
      if (next === after) next = null
    })
    return mine
  }
}
