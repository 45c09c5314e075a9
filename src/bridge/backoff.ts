import { reconnectMsMax, reconnectMsMin } from '../limits.ts'
import { relayAnswers, type SubscribeAction } from '../protocol/relay-answers.ts'
import type { OkPrefix } from '../protocol/relay-frames.ts'
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

/**
 * The number of failures in a row after one more.
 * @param prefix with which the relay ended the subscription; null: the connection just ended
 */
export function failuresAfter(failures: number, prefix: OkPrefix | null): number {
  return Math.max(failures + 1, failuresAtLeast[relayAnswers[prefix ?? 'silence'].subscriber])
}

/** As after how many failures a relay is left alone that ended the subscription with this. */
const failuresAtLeast: Readonly<Record<SubscribeAction, number>> = {
  again: 1,
  authenticate: 5,
  slow_down: 5,
  rarely: 8,
}
