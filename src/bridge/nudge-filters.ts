import { clockSkewSeconds, filterValuesMax, nudgeSeconds } from '../limits.ts'
import { artifactKind } from '../protocol/envelope.ts'
import { nudgeMailbox } from '../protocol/mailbox.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import { audience } from './access/audience.ts'
import type { AccessRecord } from './access/record.ts'

/**
 * Asks for the nudges that may have been stored while nobody listened: those of every enrolled device and of the owner,
 * as far back as one lives by the host's clock. The relay filters by the sender's date, so the skew is added.
 * @param now host time, Unix seconds
 * @param keyOf the conversation key with a peer
 * @see spec/wire.md §8
 */
export function nudgeFilters(
  record: AccessRecord,
  now: number,
  keyOf: (peer: string) => Uint8Array,
): Filter[] {
  const peers = [record.owner, ...audience(record, now).keys()].slice(0, filterValuesMax)
  const mailboxes = peers.map((peer) => nudgeMailbox(keyOf(peer)))
  const since = now - nudgeSeconds - clockSkewSeconds
  return [{ kinds: [artifactKind], '#p': [record.host], '#h': mailboxes, since }]
}
