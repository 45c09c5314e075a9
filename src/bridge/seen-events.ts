/** How an event that arrives relates to what arrived before. */
export type Sighting = 'new' | 'again' | 'overlap'

/** Which events were seen, on which of a relay's connections. Keyed by event ID; times play no part. */
export interface SeenEvents {
  /** Says what this arrival is; does not remember a new one, its signature may still be bad. */
  sight(id: string, connection: number): Sighting
  /** Remembers a verified event. */
  remember(id: string, connection: number): void
  size(): number
}

/**
 * Keeps the last `max` event IDs. An event counts as seen again only on the connection that last brought it: the
 * second delivery by an overlapping connection, or after a reconnect, is the relay's doing and no repetition.
 */
export function createSeenEvents(max: number): SeenEvents {
  const seen = new Map<string, number>()
  return {
    sight(id, connection) {
      const last = seen.get(id)
      if (last === undefined) return 'new'
      if (last === connection) return 'again'
      seen.set(id, Math.max(last, connection))
      return 'overlap'
    },
    remember(id, connection) {
      seen.set(id, connection)
      for (const oldest of seen.keys()) {
        if (seen.size <= max) break
        seen.delete(oldest)
      }
    },
    size: () => seen.size,
  }
}
