import { type IdTable, idTable } from './id-table.ts'

/** How an event that arrives relates to what arrived before. */
export type Sighting = 'new' | 'again' | 'overlap'

/** Which events were seen, on which of a relay's connections. Keyed by event ID; times play no part. */
export interface SeenEvents {
  /** Says what this arrival is; does not remember a new one, its signature may still be bad. */
  sight(id: string, connection: number): Sighting
  /** Remembers a verified event. */
  remember(id: string, connection: number): void
  /** Never over the bound. */
  size(): number
}

/**
 * Keeps the last event IDs, at least half of `max` and at most `max`, in memory that does not grow with them. An event
 * counts as seen again only on the connection that last brought it: the second delivery by an overlapping connection, or
 * after a reconnect, is the relay's doing and no repetition.
 */
export function createSeenEvents(max: number): SeenEvents {
  const half = Math.max(1, Math.floor(max / 2))
  let newer = idTable(half)
  let older = idTable(half)
  const tableOf = (id: string): IdTable => (newer.get(id) === undefined ? older : newer)
  return {
    sight(id, connection) {
      const table = tableOf(id)
      const last = table.get(id)
      if (last === undefined) return 'new'
      if (last === connection) return 'again'
      table.set(id, Math.max(last, connection))
      return 'overlap'
    },
    remember(id, connection) {
      if (newer.get(id) === undefined && newer.size() === half) {
        const emptied = older
        emptied.clear()
        older = newer
        newer = emptied
      }
      newer.set(id, connection)
    },
    size: () => newer.size() + older.size(),
  }
}
