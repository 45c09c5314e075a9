import type { Clock, Timer } from '../../src/seams/clock.ts'
import type { Disk } from '../../src/seams/disk.ts'

/**
 * The machine's clock, except that once hurried it runs some times faster, and skips to the next timer whenever
 * nothing goes on: nobody waits for a timeout.
 */
export interface HurriedClock extends Clock {
  /** Begins to hurry. */
  hurry(): void
  /** Says that something just went on. */
  stir(): void
  /** Holds time back while `work` is under way. */
  during<T>(work: Promise<T>): Promise<T>
  /** How much further it has come than the machine's, in milliseconds. */
  aheadMs(): number
  /** No timer runs any more. */
  stop(): void
}

interface Due {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

/**
 * How often in a row nothing must have gone on before time is skipped. Looks are counted, not time: on a busy machine
 * a while may pass in which this process did not run, and what it is to hear waits for its next turn.
 */
const quietLooks = 4
/** How many times faster it runs: a minute's request lives for some real seconds, more than any answer takes. */
const pace = 8

export function hurriedClock(): HurriedClock {
  const startedMs = Date.now() - performance.now()
  const timers = new Map<Timer, Due>()
  let skippedMs = 0
  let hurriedSince: number | null = null
  let order = 0
  let busy = 0
  let looks = 0
  let stopped = false

  const gainedMs = (): number => {
    if (hurriedSince === null) return 0
    return skippedMs + (performance.now() - hurriedSince) * (pace - 1)
  }
  const nowMs = (): number => startedMs + performance.now() + gainedMs()
  const stir = (): void => {
    looks = 0
  }

  /** The timer that is due first; among equals the one that was set first. */
  const first = (): readonly [Timer, Due] | null => {
    let best: readonly [Timer, Due] | null = null
    for (const one of timers) {
      const [, due] = one
      if (best === null || due.at < best[1].at || (due.at === best[1].at && due.order < best[1].order))
        best = one
    }
    return best
  }

  const look = (): void => {
    if (stopped) return
    const next = first()
    looks += 1
    if (next !== null) {
      const [timer, due] = next
      const aheadMs = due.at - nowMs()
      const quiet = hurriedSince !== null && busy === 0 && looks > quietLooks
      if (aheadMs > 0 && quiet) skippedMs += aheadMs
      if (aheadMs <= 0 || quiet) {
        timers.delete(timer)
        stir()
        due.run()
        setImmediate(look)
        return
      }
    }
    setTimeout(look, 1)
  }
  look()
  return {
    nowMs,
    after(ms, run) {
      order += 1
      const timer: Timer = { cancel: () => void timers.delete(timer) }
      timers.set(timer, { at: nowMs() + Math.max(0, ms), order, run })
      return timer
    },
    hurry() {
      hurriedSince ??= performance.now()
    },
    stir,
    async during(work) {
      busy += 1
      try {
        return await work
      } finally {
        busy -= 1
        stir()
      }
    },
    aheadMs: gainedMs,
    stop() {
      stopped = true
    },
  }
}

/** A disk on which no time is skipped while it works. Waiting for a lock is no work. */
export function unhurriedDisk(disk: Disk, { during }: Pick<HurriedClock, 'during'>): Disk {
  return {
    ...disk,
    read: (...args) => during(disk.read(...args)),
    replace: (...args) => during(disk.replace(...args)),
    create: (...args) => during(disk.create(...args)),
    list: (...args) => during(disk.list(...args)),
    makeDirectory: (...args) => during(disk.makeDirectory(...args)),
    removeTree: (...args) => during(disk.removeTree(...args)),
    syncAncestors: (...args) => during(disk.syncAncestors(...args)),
    checkDirectory: (...args) => during(disk.checkDirectory(...args)),
    identity: (...args) => during(disk.identity(...args)),
    rename: (...args) => during(disk.rename(...args)),
    remove: (...args) => during(disk.remove(...args)),
    sync: (...args) => during(disk.sync(...args)),
    async openAppend(...args) {
      const file = await during(disk.openAppend(...args))
      return {
        append: (bytes) => during(file.append(bytes)),
        truncate: (length) => during(file.truncate(length)),
        size: () => during(file.size()),
        close: () => during(file.close()),
      }
    },
  }
}
