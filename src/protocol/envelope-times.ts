import { presenceSeconds, summarySecondsMax } from '../limits.ts'
import type { JsonObject } from './json-value.ts'

/**
 * Whether an envelope's times are its body's: issue and expiry for every body that has them, the observation and
 * 300 seconds for presence, the update and at most seven days for an activity summary.
 * @param issuedAt Unix seconds, like `retainUntil`
 * @see spec/wire.md §2
 */
export function envelopeTimesAgree(body: JsonObject, issuedAt: number, retainUntil: number): boolean {
  const kept = retainUntil - issuedAt
  if (kept <= 0) return false
  switch (body['v']) {
    case 'openagents.host-presence.v1':
      return body['observed_at'] === issuedAt && kept === presenceSeconds
    case 'openagents.activity-summary.v1':
      return body['updated_at'] === issuedAt && kept <= summarySecondsMax
    default:
      return agrees(body['issued_at'], issuedAt) && agrees(body['expires_at'], retainUntil)
  }
}

function agrees(time: unknown, expected: number): boolean {
  return time === undefined || time === expected
}
