import {
  relayAuthMs,
  relayChallengeMs,
  relayDeadSeconds,
  relayLiveSeconds,
  relayPingSeconds,
  relaySigningSeconds,
} from '../limits.ts'
import { type Clock, nowSeconds, type Timer } from '../seams/clock.ts'
import type { DialRelay, RelaySocket } from '../seams/relay-socket.ts'
import type { EventTemplate, NostrEvent } from './event.ts'
import type { Filter, OkPrefix } from './relay-frames.ts'
import {
  type AuthStanding,
  createRelaySession,
  type PublishOutcome,
  type RelaySession,
  type SessionEffect,
} from './relay-session.ts'
import type { EventSigner } from './signer.ts'

export interface RelayConnectionOptions {
  readonly url: string
  /** Signs AUTH; a remote signer may take its time. */
  readonly signer: EventSigner
  readonly clock: Clock
  readonly dial: DialRelay
  /** The ID of the one subscription. */
  readonly subscription: string
  /** Asked each time the subscription is (re)opened. */
  readonly filters: () => readonly Filter[]
}

/** Why a connection ended; `prefix` when the relay gave one. */
export interface RelayEnding {
  readonly prefix: OkPrefix | null
  readonly message: string
}

export interface RelayConnectionEvents {
  /** An event of the subscription, its signature unchecked. */
  event(event: NostrEvent, stored: boolean): void
  /** The subscription is live; again after every re-subscription. */
  live(): void
  published(id: string, outcome: PublishOutcome): void
  /** Called once, unless it was closed by us. */
  ended(ending: RelayEnding): void
}

export interface RelayConnection {
  publish(event: NostrEvent): void
  /** Whether an event still waits for its OK here, or for its turn. */
  isPending(id: string): boolean
  /** Stops expecting an OK for an event. */
  forget(id: string): void
  isLive(): boolean
  auth(): AuthStanding
  /** When the peer last gave a sign of life (before there was one: when it was dialled), milliseconds of host time. */
  heardMs(): number
  close(): void
}

interface State {
  readonly options: RelayConnectionOptions
  readonly events: RelayConnectionEvents
  readonly session: RelaySession
  readonly timers: Map<'patience' | 'live' | 'ping' | 'dead', Timer>
  socket: RelaySocket | null
  heardMs: number
  over: boolean
}

/**
 * Dials a relay and keeps one session on it: challenge and AUTH get their time, a subscription that does not become
 * live and a peer that gives no sign of life end the connection. Never reconnects; that is the caller's.
 * @see spec/wire.md §8
 */
export function connectRelay(
  options: RelayConnectionOptions,
  events: RelayConnectionEvents,
): RelayConnection {
  const { url, clock, subscription, filters } = options
  const session = createRelaySession({ url, subscription, filters, now: () => nowSeconds(clock) })
  const timers = new Map()
  const state: State = { options, events, session, timers, socket: null, heardMs: clock.nowMs(), over: false }
  watchForLive(state)
  state.socket = options.dial(url, {
    open: () => opened(state),
    message(text) {
      state.heardMs = clock.nowMs()
      if (!state.over) perform(state, session.received(text))
    },
    pong() {
      state.heardMs = clock.nowMs()
    },
    closed: (reason) => end(state, { prefix: null, message: reason }),
  })
  if (state.over) state.socket.close()
  return {
    publish: (event) => perform(state, state.over ? [] : session.publish(event)),
    isPending: (id) => session.isPending(id),
    forget: (id) => session.forget(id),
    isLive: () => !state.over && session.isLive(),
    auth: () => session.auth(),
    heardMs: () => state.heardMs,
    close: () => shut(state),
  }
}

function opened(state: State): void {
  const { clock } = state.options
  state.heardMs = clock.nowMs()
  arm(state, 'patience', relayChallengeMs, () => {
    // A challenge that is being answered gets longer; a relay that never answers AUTH may still answer REQ.
    const auth = state.session.auth()
    if (auth !== 'signing' && auth !== 'sent') perform(state, state.session.patienceEnded())
    else arm(state, 'patience', relayAuthMs, () => perform(state, state.session.patienceEnded()))
  })
  const ping = () => {
    state.socket?.ping()
    arm(state, 'ping', relayPingSeconds * 1000, ping)
  }
  arm(state, 'ping', relayPingSeconds * 1000, ping)
  watchForDeath(state, relayDeadSeconds * 1000)
}

/** Ends a connection whose peer has been silent too long. Looks again when the peer's time is up, never later. */
function watchForDeath(state: State, ms: number): void {
  arm(state, 'dead', ms, () => {
    const silentMs = Math.max(0, state.options.clock.nowMs() - state.heardMs)
    const leftMs = relayDeadSeconds * 1000 - silentMs
    if (leftMs <= 0) end(state, { prefix: null, message: 'the relay went silent' })
    else watchForDeath(state, leftMs)
  })
}

function perform(state: State, effects: readonly SessionEffect[]): void {
  for (const effect of effects) {
    if (state.over) return
    switch (effect.kind) {
      case 'send':
        state.socket?.send(effect.text)
        break
      case 'sign':
        sign(state, effect.template)
        break
      case 'event':
        state.events.event(effect.event, effect.stored)
        break
      case 'live':
        state.events.live()
        break
      case 'published':
        state.events.published(effect.id, effect.outcome)
        break
      case 'lost':
        end(state, { prefix: effect.prefix, message: effect.message })
    }
  }
  watchForLive(state)
}

/** A signer that answers at once is answered for at once; a later answer finds the session as it is then. */
function sign(state: State, template: EventTemplate): void {
  const failed = () => perform(state, state.over ? [] : state.session.unsigned(template))
  try {
    const signed = state.options.signer.sign(template)
    if (signed instanceof Promise)
      void signed.then((event) => perform(state, state.session.signed(event)), failed)
    else perform(state, state.session.signed(signed))
  } catch {
    failed()
  }
}

/** From the dial on, and again from the moment a subscription is lost, it has a bounded time to be live. */
function watchForLive(state: State): void {
  if (state.session.isLive()) {
    state.timers.get('live')?.cancel()
    state.timers.delete('live')
  } else if (!state.timers.has('live')) {
    // A person may have to allow a remote signer to sign: that time is not the relay's.
    const tooLate = () => {
      perform(state, state.session.liveOverdue())
      if (!state.session.isLive()) end(state, { prefix: null, message: 'no live subscription in time' })
    }
    arm(state, 'live', relayLiveSeconds * 1000, () => {
      if (state.session.auth() === 'signing') arm(state, 'live', relaySigningSeconds * 1000, tooLate)
      else tooLate()
    })
  }
}

function end(state: State, ending: RelayEnding): void {
  if (state.over) return
  shut(state)
  state.events.ended(ending)
}

function shut(state: State): void {
  state.over = true
  for (const timer of state.timers.values()) timer.cancel()
  state.timers.clear()
  state.socket?.close()
}

function arm(state: State, name: 'patience' | 'live' | 'ping' | 'dead', ms: number, run: () => void): void {
  state.timers.get(name)?.cancel()
  if (state.over) return
  const timer = state.options.clock.after(ms, () => {
    state.timers.delete(name)
    run()
  })
  state.timers.set(name, timer)
}
