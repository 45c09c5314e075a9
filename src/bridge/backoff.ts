import { reconnectMsMax, reconnectMsMin } from '../limits.ts'
import type { Random } from '../seams/random.ts'

/**
 * How long to wait before the next attempt, in milliseconds: doubling from 0.5 s to 60 s with the number of failures
 * since the last success, the upper half of it random so that many hosts do not return at once.
 * @param failures how many attempts failed in a row, at least 1
 */
export function backoffMs(failures: number, random: Random): number {
  const whole = Math.min(reconnectMsMax, reconnectMsMin * 2 ** Math.min(failures - 1, 30))
  const [high = 0, low = 0] = random.bytes(2)
  const share = (high * 256 + low) / 65_536
  return Math.max(reconnectMsMin, Math.round(whole * (0.5 + share / 2)))
}
