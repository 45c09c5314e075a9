import { relayEventsBurst, relayEventsPerSecondMax } from '../limits.ts'
import type { Clock } from '../seams/clock.ts'

/** A bucket that fills with time: returns whether one more event may be taken now. */
export function createAllowance(clock: Clock): () => boolean {
  let left = relayEventsBurst
  let countedAt = clock.nowMs()
  return () => {
    const elapsedMs = Math.max(0, clock.nowMs() - countedAt)
    countedAt = clock.nowMs()
    left = Math.min(relayEventsBurst, left + (elapsedMs / 1000) * relayEventsPerSecondMax)
    if (left < 1) return false
    left -= 1
    return true
  }
}
