/** The IDs of events that were looked at already. */
export interface KnownIds {
  has(id: string): boolean
  /** Only what was verified: anybody can put an ID on something else. */
  add(id: string): void
  clear(): void
}

/** Remembers the last `max` IDs that were added. */
export function knownIds(max: number): KnownIds {
  const ids = new Set<string>()
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id)
      for (const oldest of ids) {
        if (ids.size <= max) break
        ids.delete(oldest)
      }
    },
    clear: () => ids.clear(),
  }
}
