import type { Clock } from '../seams/clock.ts'
import type { Random } from '../seams/random.ts'
import type { EventHead } from './rules.ts'
import type { RelayStore, StoredEvent } from './store.ts'

/** One who may be listening for new events. */
export interface Listener {
  /** Keys the connection has authenticated as. */
  readonly keys: ReadonlySet<string>
  offer(stored: StoredEvent): void
}

/** What the connections of one relay share. */
export interface Hub {
  readonly store: RelayStore
  readonly clock: Clock
  readonly random: Random
  readonly serves: () => readonly string[] | null
  readonly listeners: Set<Listener>
}

/** Offers a just-stored event to every connection that may read it; each looks at its own subscriptions. */
export function fanOut(
  hub: Hub,
  stored: StoredEvent,
  mayRead: (event: EventHead, keys: ReadonlySet<string>) => boolean,
): void {
  for (const listener of hub.listeners) {
    if (mayRead(stored.event, listener.keys)) listener.offer(stored)
  }
}
