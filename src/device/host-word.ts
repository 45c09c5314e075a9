import { type OpenedEnvelope, openVerified } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { isRefusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import type { Identity } from './identity.ts'

/** Whose word a device takes, and when: device time, Unix seconds. */
export interface WordTerms {
  readonly identity: Identity
  readonly host: string
  readonly policy: RelayPolicy
  readonly now: number
}

/**
 * What `event` says if the host signed it, to this device, in one of the mailboxes in which it speaks unasked; null for
 * anything else, and where `read` gives null or refuses.
 * @param mailboxOf names the mailbox by the conversation key of device and host
 * @see spec/wire.md §2
 */
export function readWord<T>(
  event: NostrEvent,
  { identity, host }: WordTerms,
  mailboxOf: (conversationKey: Uint8Array) => string,
  read: (opened: OpenedEnvelope) => T | null,
): T | null {
  const self = identity.signer.publicKey
  try {
    if (event.pubkey !== host) return null
    const opened = openVerified(event, self, (peer) => identity.keys.get(peer))
    if (opened.recipient !== self || opened.mailbox !== mailboxOf(identity.keys.get(host))) return null
    return read(opened)
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}
