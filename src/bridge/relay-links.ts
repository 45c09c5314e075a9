import type { NostrEvent } from '../protocol/event.ts'
import { eventBytesUnder, noLimits } from '../protocol/relay-limits.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import type { Counters } from './counters.ts'
import { type Log, reasonOf } from './log.ts'
import { quorumOf } from './quorum.ts'
import { createRelayLink, type RelayLink } from './relay-link.ts'
import type { RelayLinkOptions } from './relay-link-options.ts'
import type { RelayState } from './relay-state.ts'

/** The links to every relay that is served; the first URL is the primary one. */
export interface RelayLinks {
  /** Opens links to new relays and closes those that are no longer named. */
  serve(urls: readonly string[]): void
  urls(): readonly string[]
  /** Resolves when each link is live or had its first ten seconds. */
  ready(): Promise<void>
  states(): RelayState[]
  /** How long a signed event may be to be published on a relay, in bytes: 48 KiB, or less where it takes less. */
  eventBytesMax(relay: string): number
  /**
   * Publishes on one relay; when that one is no longer served, on all that are. Never rejects. With none it is unknown.
   * @param slot gives up what waits at that relay under the same name
   */
  publish(relay: string, event: NostrEvent, freshUntil: number, slot?: string): Promise<PublishOutcome>
  /** Gives up what waits for one recipient, at every relay: its publication ends as unknown. */
  withdraw(recipient: string): void
  /** Resolves when nothing waits to be published any more. */
  drained(): Promise<void>
  close(): void
}

export function createRelayLinks(
  options: Omit<RelayLinkOptions, 'url'>,
  counters: Counters,
  log: Log,
): RelayLinks {
  const links = new Map<string, RelayLink>()
  const publishing = new Set<Promise<PublishOutcome>>()

  const send = async (
    link: RelayLink,
    event: NostrEvent,
    freshUntil: number,
    slot?: string,
  ): Promise<PublishOutcome> => {
    try {
      const result = await link.publish(event, freshUntil, slot)
      const { outcome } = result
      counters.count(outcome === 'accepted' ? 'published' : 'publish_failed')
      // What the next of its kind replaces is no loss that anybody should hear of.
      const line = slot === undefined ? log.warn : log.debug
      if (outcome !== 'accepted')
        line('a relay did not take an event', { relay: link.url, reason: prefixOf(result) })
      return result
    } catch (error) {
      log.error('an event could not be published', { relay: link.url, reason: reasonOf(error) })
      return { outcome: 'unknown' }
    }
  }

  return {
    serve(urls) {
      for (const [url, link] of links) {
        if (urls.includes(url)) continue
        link.close()
        links.delete(url)
      }
      const kept = new Map(links)
      links.clear()
      // The order is the caller's: the first one named is the primary.
      for (const url of urls) links.set(url, kept.get(url) ?? createRelayLink({ ...options, url }))
    },
    urls: () => [...links.keys()],
    ready: async () => {
      await Promise.all([...links.values()].map((link) => link.ready))
    },
    states: () => [...links.values()].map((link) => link.state()),
    eventBytesMax: (relay) => eventBytesUnder(links.get(relay)?.limits() ?? noLimits),
    publish(relay, event, freshUntil, slot) {
      const named = links.get(relay)
      const targets = named === undefined ? [...links.values()] : [named]
      if (targets.length === 0) counters.count('publish_failed')
      const done = quorumOf(targets.map((link) => send(link, event, freshUntil, slot)))
      publishing.add(done)
      void done.finally(() => publishing.delete(done))
      return done
    },
    withdraw(recipient) {
      for (const link of links.values()) link.withdraw(recipient)
    },
    drained: async () => {
      while (publishing.size > 0) await Promise.all(publishing)
    },
    close() {
      for (const link of links.values()) link.close()
      links.clear()
    },
  }
}

/** The word of the outcome, with the relay's own when it gave one; never its message. */
function prefixOf(result: PublishOutcome): string {
  return result.outcome === 'refused' ? `refused, ${result.prefix}` : result.outcome
}
