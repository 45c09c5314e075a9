import { presenceAheadSecondsMax, presenceStaleSeconds } from '../limits.ts'
import { parseBody } from '../protocol/body.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { presenceMailbox } from '../protocol/mailbox.ts'
import { readWord, type WordTerms } from './host-word.ts'

/** A host's sign of life, as one device got it. Times are Unix seconds. */
export interface Sign {
  /** By the host's clock. */
  readonly observedAt: number
  /** By the device's clock. */
  readonly heardAt: number
  /** It came as it was published, not out of the relay's store: then the two clocks can be compared. */
  readonly live: boolean
  readonly generation: number
}

/**
 * The newest of the known sign and what `event` says, if it is the host's genuine presence for this device. Order is
 * by (generation, observed_at); the date of the event plays no part.
 * @see spec/wire.md §5
 */
export function newestSign(
  known: Sign | null,
  event: NostrEvent,
  terms: WordTerms & { readonly live: boolean },
): Sign | null {
  const { host, policy, now, live } = terms
  const presence = readWord(event, terms, presenceMailbox, ({ body }) => parseBody('presence', body, policy))
  if (presence === null || presence.host !== host) return known
  const sign = { observedAt: presence.observed_at, generation: presence.generation, heardAt: now, live }
  return isNewer(sign, known) ? sign : known
}

/**
 * Whether a device may take a sign of life for one: it is at most 30 s ahead of the device's clock. Words about clocks
 * look at the others too.
 * @see spec/wire.md §5
 */
export function isAcceptable({ observedAt, heardAt }: Sign): boolean {
  return observedAt <= heardAt + presenceAheadSecondsMax
}

/** Whether a host that was seen last by `sign` is not to be called here any more. @see spec/wire.md §5 */
export function isStale({ observedAt }: Sign, now: number): boolean {
  return now - observedAt > presenceStaleSeconds
}

/** The order of presences: by (generation, observed_at), which are both the host's. */
export function isNewer(sign: Sign, known: Sign | null): boolean {
  if (known === null || sign.generation > known.generation) return true
  return sign.generation === known.generation && sign.observedAt > known.observedAt
}
