import {
  clockSkewSeconds,
  grantsAsked,
  grantsAskedInWindow,
  renewalLifePercent,
  requestSecondsMax,
  spokenWindowsMax,
} from '../limits.ts'
import type { Grant } from '../protocol/bodies/grant.ts'

/** A stretch of event dates to ask a relay for, both ends included, Unix seconds. */
export type DateWindow = {
  readonly since: number
  readonly until: number
  readonly limit: number
}

/**
 * Whether a host may have renewed a grant by `now`: at most a quarter of its life remains, by any clock that the host
 * could have.
 * @see spec/wire.md §7
 */
export function mayBeRenewed(grant: Grant, now: number): boolean {
  return now + clockSkewSeconds >= renewableFrom(grant)
}

/**
 * Where a stored renewal of `grant` can be. Pure. Its mailbox is an ID that this device cannot know, and a host sends
 * too much in the days after it to read through. But a host renews when it hears the device, within the life of a
 * request: the renewal is dated around one of the times at which the device spoke under this grant. Where none of
 * those is known, the newest of what the host sent while it could renew has to do.
 * @param spoken when this device spoke since it could be renewed, Unix seconds
 */
export function renewalWindows(grant: Grant, spoken: readonly number[], now: number): DateWindow[] {
  if (!mayBeRenewed(grant, now)) return []
  const since = renewableFrom(grant) - clockSkewSeconds
  const until = grant.expires_at + clockSkewSeconds
  if (spoken.length === 0) return [{ since, until, limit: grantsAsked }]
  return spoken.map((at) => ({
    since: at - requestSecondsMax - clockSkewSeconds,
    until: at + requestSecondsMax + clockSkewSeconds,
    limit: grantsAskedInWindow,
  }))
}

/**
 * The times to remember after speaking at `now`: the first, at which a host that was there renewed, and the last few,
 * for a host that was not. Null when `now` is covered already. Pure.
 */
export function withSpoken(spoken: readonly number[], now: number): number[] | null {
  if (spoken.some((at) => Math.abs(now - at) < requestSecondsMax)) return null
  const [first, ...later] = spoken
  if (first === undefined) return [now]
  return [first, ...[...later, now].slice(1 - spokenWindowsMax)]
}

function renewableFrom({ issued_at, expires_at }: Grant): number {
  return expires_at - Math.floor(((expires_at - issued_at) * renewalLifePercent) / 100)
}
