import type { Clock } from '../seams/clock.ts'

/** What `promise` gives, or null after `ms` milliseconds. */
export async function within<T>(clock: Clock, promise: Promise<T>, ms: number): Promise<T | null> {
  let cancel = (): void => {}
  const timeout = new Promise<null>((resolve) => {
    cancel = clock.after(ms, () => resolve(null)).cancel
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    cancel()
  }
}
