import type { ActivitySummary } from '../protocol/bodies/activity-summary.ts'
import { parseBody } from '../protocol/body.ts'
import { openVerified } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { summaryMailbox } from '../protocol/mailbox.ts'
import { isRefusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import type { Identity } from './identity.ts'

/**
 * The activity summary that `event` brings, or null: it must be signed by the host, to us, in the mailbox of
 * summaries, about a task of that host, within its bounds and rules, and not past its retention.
 * @param now device time, Unix seconds
 * @see spec/wire.md §5
 */
export function readSummary(
  event: NostrEvent,
  terms: { identity: Identity; host: string; policy: RelayPolicy; now: number },
): ActivitySummary | null {
  const { identity, host, policy, now } = terms
  const self = identity.signer.publicKey
  try {
    if (event.pubkey !== host) return null
    const opened = openVerified(event, self, (peer) => identity.keys.get(peer))
    if (opened.recipient !== self || opened.mailbox !== summaryMailbox(identity.keys.get(host))) return null
    if (opened.retain_until <= now) return null
    const summary = parseBody('summary', opened.body, policy)
    return summary.host === host ? summary : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}
