import { relayBytesMax, relayEventSeconds, relayGuestPercent } from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import { matchesFilter } from './filter.ts'
import { type EventHead, recipientOf } from './rules.ts'

/** A kept event: what filters look at, and the whole of it as the text that is sent. */
export interface StoredEvent {
  readonly event: EventHead
  /** The whole event as JSON text. */
  readonly text: string
  readonly bytes: number
  /** Relay time of arrival, Unix seconds: the only time that retention looks at. */
  readonly receivedAt: number
}

export interface RelayStore {
  has(id: string): boolean
  /** Keeps a verified event, dropping the oldest arrivals over the bounds. */
  add(event: NostrEvent): StoredEvent
  /** What `keys` may read of what any of `filters` asks for, newest first; each event once. */
  query(filters: readonly Filter[], keys: ReadonlySet<string>, countMax: number): StoredEvent[]
  size(): { events: number; bytes: number }
}

/**
 * Events in memory, for 8 days by arrival and at most 64 MiB, the oldest arrival dropped first. Indexed by who may
 * read them, so that a query never looks at an event it must not show.
 *
 * Anybody can write to a host that is served, so what others than the hosts write has half of the room: a flood of it
 * never takes away what a host left for its devices.
 * @param serves host keys, asked at every event; null: there is no such difference
 * @see spec/wire.md §2
 */
export function createRelayStore(
  clock: Clock,
  serves: () => readonly string[] | null,
  bytesMax: number = relayBytesMax,
): RelayStore {
  const byId = new Map<string, StoredEvent>()
  const byReader = new Map<string, Set<StoredEvent>>()
  const guests = new Set<StoredEvent>()
  const guestBytesMax = (bytesMax * relayGuestPercent) / 100
  let bytes = 0
  let guestBytes = 0

  const drop = (stored: StoredEvent): void => {
    byId.delete(stored.event.id)
    bytes -= stored.bytes
    if (guests.delete(stored)) guestBytes -= stored.bytes
    for (const reader of readersOf(stored.event)) {
      const readable = byReader.get(reader)
      readable?.delete(stored)
      if (readable?.size === 0) byReader.delete(reader)
    }
  }

  const dropOld = (): void => {
    for (const guest of guests) {
      if (guestBytes <= guestBytesMax) break
      drop(guest)
    }
    const oldest = nowSeconds(clock) - relayEventSeconds
    for (const stored of byId.values()) {
      if (stored.receivedAt > oldest && bytes <= bytesMax) return
      drop(stored)
    }
  }

  return {
    has(id) {
      dropOld()
      return byId.has(id)
    },
    add(event) {
      const text = JSON.stringify(event)
      const { content: _content, sig: _sig, ...head } = event
      const stored = { event: head, text, bytes: Buffer.byteLength(text), receivedAt: nowSeconds(clock) }
      byId.set(event.id, stored)
      bytes += stored.bytes
      if (serves()?.includes(event.pubkey) === false) {
        guests.add(stored)
        guestBytes += stored.bytes
      }
      for (const reader of readersOf(event)) {
        const readable = byReader.get(reader) ?? new Set()
        byReader.set(reader, readable.add(stored))
      }
      dropOld()
      return stored
    },
    query(filters, keys, countMax) {
      dropOld()
      const readable = new Set<StoredEvent>()
      for (const key of keys) for (const stored of byReader.get(key) ?? []) readable.add(stored)
      return select([...readable], filters, countMax)
    },
    size: () => ({ events: byId.size, bytes }),
  }
}

/** Union of the filters, each with its own limit, newest first and equal times by ID. */
function select(readable: StoredEvent[], filters: readonly Filter[], countMax: number): StoredEvent[] {
  const chosen = new Set<StoredEvent>()
  for (const filter of filters) {
    const matching = readable.filter((stored) => matchesFilter(filter, stored.event)).sort(newestFirst)
    for (const stored of matching.slice(0, Math.min(filter.limit ?? countMax, countMax))) chosen.add(stored)
  }
  return [...chosen].sort(newestFirst).slice(0, countMax)
}

function newestFirst(one: StoredEvent, other: StoredEvent): number {
  const later = other.event.created_at - one.event.created_at
  if (later !== 0) return later
  return one.event.id < other.event.id ? -1 : 1
}

function readersOf(event: EventHead): Set<string> {
  const recipient = recipientOf(event)
  return new Set(recipient === null ? [event.pubkey] : [event.pubkey, recipient])
}
