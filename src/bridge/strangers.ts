import { strangerContentBytesMax, strangerRefusalsPerSecondMax, strangersPerSecondMax } from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import { enrollmentOpen } from './access/enrollments.ts'
import { invitationOpen } from './access/invitations.ts'
import type { AccessRecord } from './access/record.ts'
import type { Counted } from './counters.ts'

/** Guards the host's work and words from keys that it does not know. */
export interface StrangerGate {
  /** Why a stranger's event is not even verified, or null when it may be. */
  closedFor(event: NostrEvent, record: AccessRecord): Counted | null
  /** Whether a signed refusal may go to a stranger now. */
  mayRefuse(): boolean
}

/** Whether the host knows `key`: itself, its owner, or a device that it granted something it still remembers. */
export function isKnown(record: AccessRecord, key: string): boolean {
  return (
    key === record.owner || key === record.host || record.grants.some((entry) => entry.grant.device === key)
  )
}

/**
 * Strangers are heard only while an invitation or an enrollment is open: at most 20 a second, 4 KiB each, and refused
 * at most once a second.
 * @see spec/wire.md §7
 */
export function createStrangerGate(clock: Clock): StrangerGate {
  const verifications = perSecond(clock, strangersPerSecondMax)
  const refusals = perSecond(clock, strangerRefusalsPerSecondMax)
  return {
    closedFor(event, record) {
      const now = nowSeconds(clock)
      if (!invitationOpen(record, now) && !enrollmentOpen(record, now)) return 'stranger_closed'
      if (event.content.length > strangerContentBytesMax) return 'stranger_size'
      return verifications() ? null : 'stranger_rate'
    },
    mayRefuse: refusals,
  }
}

/** Whether one more may happen, at most `max` in any one second window. */
export function perSecond(clock: Clock, max: number): () => boolean {
  const at: number[] = []
  return () => {
    const now = clock.nowMs()
    // What lies ahead was counted before the clock was set back: it must not silence anybody until then.
    while (at.length > 0 && !((at[0] ?? 0) > now - 1_000 && (at[0] ?? 0) <= now)) at.shift()
    if (at.length >= max) return false
    at.push(now)
    return true
  }
}
