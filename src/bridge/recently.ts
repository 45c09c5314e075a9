import { recentlyMax } from '../limits.ts'
import type { Clock } from '../seams/clock.ts'

/**
 * Whether something may happen for `key` now: at most once in `seconds` of host time. A yes counts. The keys that
 * said yes last are remembered, within a bound.
 */
export function recently(clock: Clock, seconds: number): (key: string) => boolean {
  const last = new Map<string, number>()
  return (key) => {
    const now = clock.nowMs()
    const at = last.get(key)
    // A clock that was set back must not silence a key until it has caught up.
    if (at !== undefined && now >= at && now - at < seconds * 1000) return false
    last.delete(key)
    last.set(key, now)
    for (const oldest of last.keys()) {
      if (last.size <= recentlyMax) break
      last.delete(oldest)
    }
    return true
  }
}
