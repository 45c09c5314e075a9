import { nudgesAsked, presencesAsked, replyHistorySeconds } from '../limits.ts'
import { artifactKind } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { nudgeMailbox, presenceMailbox, summaryMailbox } from '../protocol/mailbox.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import type { Sign } from './presence.ts'

/** What a link hears of its host beside the answers to what was asked on it. Of an event only the author is checked. */
export interface Ears {
  /** The host's genuine presence, newer than any on this connection before. */
  presence?(sign: Sign): void
  nudge?(event: NostrEvent): void
  summary?(event: NostrEvent): void
  /** Perhaps a renewed grant. */
  other?(event: NostrEvent): void
  /** Everything stored was heard. */
  live?(): void
}

/** The mailboxes in which a host says something without being asked. */
export interface HostMailboxes {
  readonly presence: string
  readonly nudge: string
  readonly summary: string
}

/** @param conversationKey of the device and the host */
export function hostMailboxes(conversationKey: Uint8Array): HostMailboxes {
  return {
    presence: presenceMailbox(conversationKey),
    nudge: nudgeMailbox(conversationKey),
    summary: summaryMailbox(conversationKey),
  }
}

/**
 * What a device asks its relay for: what the host sent lately, whose window is longer than a request lives and two
 * clocks may differ together; its presences of the latest dates, however old, to compare clocks by; its latest nudges;
 * and what else is wanted.
 * @param now device time, Unix seconds
 * @see spec/wire.md §8
 */
export function hostMailFilters(
  { host, device, now }: { host: string; device: string; now: number },
  mailboxes: HostMailboxes,
  wanted: readonly Filter[],
): readonly Filter[] {
  const fromHost = { kinds: [artifactKind], authors: [host], '#p': [device] }
  return [
    { ...fromHost, since: Math.max(0, now - replyHistorySeconds) },
    { ...fromHost, '#h': [mailboxes.presence], limit: presencesAsked },
    { ...fromHost, '#h': [mailboxes.nudge], limit: nudgesAsked },
    ...wanted.map((more) => ({ ...fromHost, ...more })),
  ]
}

/** The mailbox that an event names, or the empty word. */
export function mailboxOf(event: NostrEvent): string {
  return event.tags.find((tag) => tag[0] === 'h')?.[1] ?? ''
}
