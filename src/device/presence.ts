import { presenceAheadSecondsMax, presenceStaleSeconds } from '../limits.ts'
import { parseBody } from '../protocol/body.ts'
import { openVerified } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { presenceMailbox } from '../protocol/mailbox.ts'
import { isRefusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import type { Identity } from './identity.ts'

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
  terms: { identity: Identity; host: string; policy: RelayPolicy; now: number; live: boolean },
): Sign | null {
  const { identity, host, policy, now, live } = terms
  try {
    if (event.pubkey !== host) return known
    const opened = openVerified(event, identity.signer.publicKey, (peer) => identity.keys.get(peer))
    if (opened.recipient !== identity.signer.publicKey) return known
    if (opened.mailbox !== presenceMailbox(identity.keys.get(host))) return known
    const presence = parseBody('presence', opened.body, policy)
    if (presence.host !== host) return known
    const sign = { observedAt: presence.observed_at, generation: presence.generation, heardAt: now, live }
    return isNewer(sign, known) ? sign : known
  } catch (error) {
    if (isRefusal(error)) return known
    throw error
  }
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
