import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Hub } from '../../src/relay/hub.ts'
import { openSession } from '../../src/relay/session.ts'
import { createRelayStore } from '../../src/relay/store.ts'
import type { Clock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import type { DialRelay } from '../../src/seams/relay-socket.ts'

/** A frame on its way between a client and the relay. */
export interface Passing {
  /** Whose connection it is, as named when it was dialled. */
  readonly whose: string
  /** To the relay, or from it. */
  readonly way: 'up' | 'down'
  /** The frame, parsed. */
  readonly frame: readonly unknown[]
  /** Ends the connection, for both. */
  cut(): void
  /** Says something to the client in the relay's place. */
  say(...frame: unknown[]): void
}

/** The embedded relay without a network: its frames take as long as the test says, and pass only if it says so. */
export interface RelayInMemory {
  /** A socket seam for one party. */
  dialFor(whose: string): DialRelay
  /** Whether a frame passes; all do unless this is replaced. */
  passes: (passing: Passing) => boolean
  /** How long a frame is under way, in milliseconds of the clock; they never overtake each other. */
  delayMs: () => number
  /** How often somebody dialled, and is connected now. */
  dialled(whose: string): number
  connected(whose: string): number
  /** Gives an event out once more, on every connection of one party that subscribed. */
  sayToAll(whose: string, event: NostrEvent): void
  /** Ends every connection of one party. */
  cut(whose: string): void
  /** Everything that came, oldest first. */
  readonly published: NostrEvent[]
}

export function relayInMemory(clock: Clock, url: string): RelayInMemory {
  const hub: Hub = {
    store: createRelayStore(clock, () => null),
    clock,
    random: systemRandom,
    serves: () => null,
    listeners: new Set(),
  }
  const dials = new Map<string, number>()

  const open = new Set<{ whose: string; cut: () => void }>()
  const subscribed = new Set<{ whose: string; subscription: unknown; say: Passing['say'] }>()

  const relay: RelayInMemory = {
    passes: () => true,
    delayMs: () => 0,
    dialled: (whose) => dials.get(whose) ?? 0,
    connected: (whose) => [...open].filter((one) => one.whose === whose).length,
    published: [],
    cut(whose) {
      for (const one of [...open]) if (one.whose === whose) one.cut()
    },
    sayToAll(whose, event) {
      for (const one of subscribed) if (one.whose === whose) one.say('EVENT', one.subscription, event)
    },
    dialFor: (whose) => (_url, events) => {
      let over = false
      let arrivesMs = 0
      dials.set(whose, (dials.get(whose) ?? 0) + 1)
      const later = (run: () => void): void => {
        arrivesMs = Math.max(arrivesMs, clock.nowMs() + relay.delayMs())
        clock.after(arrivesMs - clock.nowMs(), run)
      }
      const end = (): void => {
        over = true
        open.delete(here)
        session?.ended()
      }
      const cut = (): void => {
        if (over) return
        end()
        events.closed('cut')
      }
      const here = { whose, cut }
      open.add(here)
      const say = (...frame: unknown[]): void => later(() => !over && events.message(JSON.stringify(frame)))
      const pass = (way: 'up' | 'down', text: string, deliver: () => void): void => {
        if (over || !relay.passes({ whose, way, frame: JSON.parse(text), cut, say })) return
        later(() => !over && deliver())
      }
      let session: ReturnType<typeof openSession> | null = null
      later(() => {
        if (over) return
        events.open()
        session = openSession(hub, {
          send: (text) => pass('down', text, () => events.message(text)),
          bufferedBytes: () => 0,
          drop: cut,
          urls: () => [url],
        })
      })
      return {
        send(text) {
          pass('up', text, () => {
            const [type, what] = JSON.parse(text)
            if (type === 'EVENT') relay.published.push(what)
            if (type === 'REQ') subscribed.add({ whose, subscription: what, say })
            session?.received(text)
          })
        },
        ping: () => later(() => !over && events.pong()),
        bufferedBytes: () => 0,
        close() {
          if (!over) end()
        },
      }
    },
  }
  return relay
}
