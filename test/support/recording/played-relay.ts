import type { NostrEvent } from '../../../src/protocol/event.ts'
import { type Clock, nowSeconds } from '../../../src/seams/clock.ts'
import type { DialRelay } from '../../../src/seams/relay-socket.ts'
import { type FakeConnection, fakeSockets } from '../fake-relay-sockets.ts'

/** A frame that the host sent, and on which connection: they are counted from 1, over all relays. */
export interface HostFrame {
  readonly connection: number
  readonly frame: readonly unknown[]
}

/** An event that the host published. */
export interface Published {
  readonly event: NostrEvent
  readonly at: number
}

/** Relays that let a host in, take what it publishes, and deliver what they are told to. */
export interface PlayedRelays {
  readonly dial: DialRelay
  /** What the host published since it was asked last, and when, Unix seconds. */
  published(): Published[]
  /** What else the host sent since it was asked last. */
  frames(): HostFrame[]
  /** Delivers an event on one connection; on the newest of that relay unless it is named. */
  deliver(relay: string, event: NostrEvent, connection?: number): void
  /** Says a frame on one connection. */
  say(connection: number, ...frame: unknown[]): void
  /** Ends the subscription of a connection. */
  close(connection: number, reason: string): void
  /** Ends a connection. */
  cut(connection: number): void
  /** What is said of published events from now on: that they were taken, nothing, or once a refusal. */
  answer(says: boolean | string): void
  /** From now on new subscriptions stay without their stored events until `goLive`. */
  hold(): void
  goLive(connection: number, stored: readonly NostrEvent[]): void
  /** What the relays have stored when the host subscribes next. */
  store(events: readonly NostrEvent[]): void
}

export function playedRelays(clock: Clock): PlayedRelays {
  const sockets = fakeSockets()
  let published: Published[] = []
  let frames: HostFrame[] = []
  let stored: readonly NostrEvent[] = []
  let holding = false
  let says: boolean | string = true

  const at = (number: number): FakeConnection => {
    const connection = sockets.connections[number - 1]
    if (connection === undefined) throw new Error(`nobody dialled connection ${number}`)
    return connection
  }
  const newest = (relay: string): FakeConnection => {
    const connection = sockets.connections.findLast(({ url, closed }) => url === relay && !closed)
    if (connection === undefined) throw new Error(`nobody is connected to ${relay}`)
    return connection
  }
  const goLive = (connection: FakeConnection, events: readonly NostrEvent[]): void => {
    const subscription = connection.subscription()
    for (const event of events) connection.say('EVENT', subscription, event)
    connection.say('EOSE', subscription)
  }
  const answer = (connection: FakeConnection, number: number, frame: readonly unknown[]): void => {
    const [verb, first] = frame
    if (verb === 'EVENT') {
      const event = first as NostrEvent
      published.push({ event, at: nowSeconds(clock) })
      if (typeof says === 'string') connection.say('OK', event.id, false, says)
      else if (says) connection.say('OK', event.id, true, '')
      says = says !== false
      return
    }
    frames.push({ connection: number, frame })
    if (verb === 'AUTH') connection.say('OK', (first as NostrEvent).id, true, '')
    if (verb === 'REQ' && !holding) goLive(connection, stored)
  }

  return {
    dial(url, events) {
      const socket = sockets.dial(url, events)
      const connection = sockets.last()
      const number = sockets.connections.length
      queueMicrotask(() => {
        connection.open()
        connection.say('AUTH', `challenge-${number}`)
      })
      return {
        ...socket,
        send(text) {
          socket.send(text)
          const frame = connection.sent.at(-1) ?? []
          queueMicrotask(() => answer(connection, number, frame))
        },
      }
    },
    published() {
      const taken = published
      published = []
      return taken
    },
    frames() {
      const taken = frames
      frames = []
      return taken
    },
    deliver(relay, event, number) {
      const connection = number === undefined ? newest(relay) : at(number)
      connection.say('EVENT', connection.subscription(), event)
    },
    say: (number, ...frame) => at(number).say(...frame),
    close: (number, reason) => at(number).say('CLOSED', at(number).subscription(), reason),
    cut: (number) => at(number).cut(),
    answer(what) {
      says = what
    },
    hold() {
      holding = true
    },
    goLive: (number, events) => goLive(at(number), events),
    store(events) {
      stored = events
    },
  }
}
