import type { NostrEvent } from '../protocol/event.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import type { Counters } from './counters.ts'
import { type Log, reasonOf } from './log.ts'
import { createRelayLink, type RelayLink, type RelayLinkOptions, type RelayState } from './relay-link.ts'

/** The links to every relay that is served; the first URL is the primary one. */
export interface RelayLinks {
  /** Opens links to new relays and closes those that are no longer named. */
  serve(urls: readonly string[]): void
  urls(): readonly string[]
  /** Resolves when each link is live or had its first ten seconds. */
  ready(): Promise<void>
  states(): RelayState[]
  /**
   * Publishes on one relay; on the primary when that one is no longer served. Never rejects.
   * @param slot gives up what waits at that relay under the same name
   */
  publish(relay: string, event: NostrEvent, freshUntil: number, slot?: string): Promise<PublishOutcome>
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
      if (outcome !== 'accepted') line('a relay did not take an event', { relay: link.url, reason: outcome })
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
    publish(relay, event, freshUntil, slot) {
      const link = links.get(relay) ?? links.values().next().value
      if (link === undefined) {
        counters.count('publish_failed')
        return Promise.resolve({ outcome: 'unknown' })
      }
      const done = send(link, event, freshUntil, slot)
      publishing.add(done)
      void done.finally(() => publishing.delete(done))
      return done
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
