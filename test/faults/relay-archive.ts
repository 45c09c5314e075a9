import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Filter } from '../../src/protocol/relay-frames.ts'

/** The events that a test's relay has, in the order in which they came, and what it was ever shown. */
export interface RelayArchive {
  /** Everything that anybody published, also what was refused, dropped or lost. */
  readonly shown: readonly NostrEvent[]
  readonly stored: ReadonlyMap<string, NostrEvent>
  /** What was asked for, every time that a subscription was opened. */
  readonly asked: readonly Filter[]
  /** How many stored events a subscriber gets at most. */
  historyMax: number
  /** Called with everything that is published, before anything becomes of it. */
  onShown: (event: NostrEvent) => void
  show(event: NostrEvent): void
  ask(filters: readonly Filter[]): void
  store(event: NostrEvent): void
  /** What a subscriber with these keys asked for, newest first. `anyAge` leaves out the dates. */
  query(filters: readonly Filter[], keys: ReadonlySet<string>, anyAge: boolean): NostrEvent[]
}

export function relayArchive(): RelayArchive {
  const shown: NostrEvent[] = []
  const stored = new Map<string, NostrEvent>()
  const asked: Filter[] = []
  const archive: RelayArchive = {
    shown,
    stored,
    asked,
    historyMax: 60,
    onShown() {},
    show(event) {
      shown.push(event)
      archive.onShown(event)
    },
    ask: (filters) => void asked.push(...filters),
    store: (event) => void stored.set(event.id, event),
    query(filters, keys, anyAge) {
      const found = new Set<NostrEvent>()
      for (const filter of filters) {
        const matching = [...stored.values()]
          .reverse()
          .filter((event) => mayRead(event, keys) && wants(filter, event, anyAge))
        for (const event of matching.slice(0, filter.limit ?? matching.length)) found.add(event)
      }
      return [...found]
    },
  }
  return archive
}

/** Whether a filter asks for an event. */
export function wants(filter: Filter, event: NostrEvent, anyAge: boolean): boolean {
  if (filter.kinds?.includes(event.kind) === false || filter.authors?.includes(event.pubkey) === false)
    return false
  if (!anyAge && (event.created_at < (filter.since ?? 0) || event.created_at > (filter.until ?? Infinity)))
    return false
  return Object.entries(filter).every(([name, values]) => {
    if (!name.startsWith('#') || !Array.isArray(values)) return true
    return event.tags.some((tag) => tag[0] === name.slice(1) && values.includes(tag[1]))
  })
}

function mayRead(event: NostrEvent, keys: ReadonlySet<string>): boolean {
  return keys.has(event.pubkey) || event.tags.some((tag) => tag[0] === 'p' && keys.has(tag[1] ?? ''))
}
