import {
  clockErrorSeconds,
  clockSkewSeconds,
  presenceAheadSecondsMax,
  presenceEverySeconds,
} from '../limits.ts'
import type { Sign } from './presence.ts'

/** How late a host's presence may be before it means more than a slow network, in seconds. */
const lateSeconds = presenceEverySeconds + 5

/**
 * Says in words why a request may have gone without an answer. A host answers nothing that is dated more than 60 s
 * off its own clock, so it is for the device to notice; a clock that is off by less is not the reason.
 * @param sign the host's newest sign of life, or null
 * @param now device time, Unix seconds
 */
export function silenceWords(sign: Sign | null, now: number): string {
  if (sign === null) return 'no answer, and no sign of life of the host on this relay'
  const aheadSeconds = sign.observedAt - sign.heardAt
  if (sign.live) return liveWords(aheadSeconds)
  // What was stored may be old, but it cannot be from the future.
  if (aheadSeconds > presenceAheadSecondsMax) return `no answer; ${futureWords(aheadSeconds)}`
  const ageSeconds = now - sign.observedAt
  if (ageSeconds > lateSeconds) {
    const age = duration(ageSeconds)
    return `no answer; by its own clock the host was last here ${age} ago: it is off, or this device's clock is ahead of its clock by up to ${age}`
  }
  return 'no answer in time, though the host is there'
}

/**
 * For a clock that is surely too far off.
 * @param aheadSeconds how far the host's clock is ahead of this device's; negative when it is behind
 */
export function skewWords(aheadSeconds: number): string {
  return `${offWords(aheadSeconds)}; ${windowWords}: set the clock`
}

const windowWords = `it answers nothing that is more than ${clockSkewSeconds} seconds off`

/** The host was heard as it spoke: what its clock showed then is out by no more than the network is slow. */
function liveWords(aheadSeconds: number): string {
  const off = Math.abs(aheadSeconds)
  if (off > clockSkewSeconds + clockErrorSeconds) return skewWords(aheadSeconds)
  if (off > clockSkewSeconds - clockErrorSeconds) {
    const measured = `${offWords(aheadSeconds)}, give or take ${clockErrorSeconds}`
    return `no answer; ${measured}: that may be the reason, since ${windowWords}`
  }
  if (off <= clockErrorSeconds) return 'no answer in time, though the host is there'
  return `no answer in time, though the host is there; ${offWords(aheadSeconds)}, which is not the reason`
}

/** A message from the future was perhaps stored a while ago: the clocks differ by at least that much. */
function futureWords(aheadSeconds: number): string {
  const off = duration(aheadSeconds)
  if (aheadSeconds > clockSkewSeconds) return skewWords(aheadSeconds)
  return `this device's clock is at least ${off} behind the host's: that may be the reason, since ${windowWords}`
}

function offWords(aheadSeconds: number): string {
  const direction = aheadSeconds > 0 ? 'behind' : 'ahead of'
  return `this device's clock is about ${duration(Math.abs(aheadSeconds))} ${direction} the host's`
}

/** A length of time for people, in its largest unit that leaves at least two of it. */
export function duration(seconds: number): string {
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const
  const unit = units.find(([, size]) => seconds >= 2 * size)
  const [name, size] = unit ?? ['second', 1]
  const count = Math.round(seconds / size)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
