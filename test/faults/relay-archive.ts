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
  const byReader = new Map<string, NostrEvent[]>()
  const archive: RelayArchive = {
    shown,
    stored,
    asked,
    historyMax: 20,
    onShown() {},
    show(event) {
      shown.push(event)
      archive.onShown(event)
    },
    ask: (filters) => void asked.push(...filters),
    store(event) {
      if (stored.has(event.id)) return
      stored.set(event.id, event)
      for (const key of readersOf(event)) byReader.get(key)?.push(event) ?? byReader.set(key, [event])
    },
    query(filters, keys, anyAge) {
      const readable = [...keys].flatMap((key) => byReader.get(key) ?? [])
      const found = new Set<NostrEvent>()
      for (const filter of filters) {
        let left = Math.min(filter.limit ?? archive.historyMax, archive.historyMax)
        for (let index = readable.length - 1; index >= 0 && left > 0; index -= 1) {
          const event = readable[index]
          if (event === undefined || !wants(filter, event, anyAge)) continue
          found.add(event)
          left -= 1
        }
      }
      return [...found].slice(0, archive.historyMax)
    },
  }
  return archive
}

/** Whether a filter asks for an event. */
export function wants(filter: Filter, event: NostrEvent, anyAge: boolean): boolean {
  const { created_at: date } = event
  if (!anyAge && (date < (filter.since ?? 0) || date > (filter.until ?? Number.POSITIVE_INFINITY)))
    return false
  if (filter.kinds?.includes(event.kind) === false || filter.authors?.includes(event.pubkey) === false)
    return false
  return Object.entries(filter).every(([name, values]) => {
    if (!name.startsWith('#') || !Array.isArray(values)) return true
    return event.tags.some((tag) => tag[0] === name.slice(1) && values.includes(tag[1]))
  })
}

/** The keys that may read an event: its author's and its recipients'. */
export function readersOf(event: NostrEvent): string[] {
  return [event.pubkey, ...event.tags.filter((tag) => tag[0] === 'p').map((tag) => tag[1] ?? '')]
}
