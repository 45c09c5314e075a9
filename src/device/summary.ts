import type { ActivitySummary } from '../protocol/bodies/activity-summary.ts'
import { parseBody } from '../protocol/body.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { summaryMailbox } from '../protocol/mailbox.ts'
import { readWord, type WordTerms } from './host-word.ts'

/**
 * The activity summary that `event` brings, or null: it must be signed by the host, to us, in the mailbox of
 * summaries, about a task of that host, within its bounds and rules, and not past its retention.
 * @see spec/wire.md §5
 */
export function readSummary(event: NostrEvent, terms: WordTerms): ActivitySummary | null {
  const { host, policy, now } = terms
  return readWord(event, terms, summaryMailbox, ({ retain_until, body }) => {
    if (retain_until <= now) return null
    const summary = parseBody('summary', body, policy)
    return summary.host === host ? summary : null
  })
}
