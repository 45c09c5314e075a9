/**
 * Why something that arrived was not answered, or what was done with it. Names only: a counter never holds content.
 * @see spec/wire.md §7
 */
export const counted = [
  'received',
  'answered',
  'asked_again',
  'nudges_answered',
  'nudges_ignored',
  'published',
  'publish_failed',
  'not_our_kind',
  'not_for_us',
  'oversized',
  'stranger_closed',
  'stranger_rate',
  'stranger_size',
  'bad_signature',
  'bad_envelope',
  'bad_body',
  'other_schema',
  'from_host',
  'other_host',
  'other_relay',
  'other_mailbox',
  'outside_window',
  'unknown_capability',
  'invitation_replies',
  'stranger_refusals',
  'history',
  'in_flight',
  'too_many_in_flight',
  'expired_meanwhile',
  'oversized_answer',
  'failed',
] as const
export type Counted = (typeof counted)[number]

/** Counts since the service started, by reason. */
export interface Counters {
  count(reason: Counted): void
  /** A copy, with every name that has been counted at least once. */
  read(): Partial<Record<Counted, number>>
}

/** Starts at zero. */
export function createCounters(): Counters {
  const totals = new Map<Counted, number>()
  return {
    count: (reason) => void totals.set(reason, (totals.get(reason) ?? 0) + 1),
    read: () => Object.fromEntries(totals),
  }
}
