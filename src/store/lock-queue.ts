import { systemClock } from '../seams/clock.ts'

/** Who waits, in this process, behind each lock path that this process holds or polls for. */
const queues = new Map<string, (() => void)[]>()

/**
 * Waits for this process's own turn at a lock, first come, first served, so that its callers poll the kernel one at
 * a time.
 * @returns how to leave, to be called exactly once; null when `waitMs` milliseconds passed first
 */
export function joinQueue(path: string, waitMs: number): Promise<(() => void) | null> {
  const waiting = queues.get(path)
  if (waiting === undefined) {
    queues.set(path, [])
    return Promise.resolve(() => leave(path))
  }
  if (waitMs <= 0) return Promise.resolve(null)
  return new Promise((resolve) => {
    const timer = systemClock.after(waitMs, () => {
      const place = waiting.indexOf(enter)
      if (place >= 0) waiting.splice(place, 1)
      resolve(null)
    })
    const enter = () => {
      timer.cancel()
      resolve(() => leave(path))
    }
    waiting.push(enter)
  })
}

function leave(path: string): void {
  const next = queues.get(path)?.shift()
  if (next === undefined) queues.delete(path)
  else next()
}
