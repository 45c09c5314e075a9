import { deviceRetryMs, listenHeardMax } from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { Refusal } from '../protocol/refusal.ts'
import { connectRelay, type RelayConnection } from '../protocol/relay-connection.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import type { EventSigner } from '../protocol/signer.ts'
import type { Clock, Timer } from '../seams/clock.ts'
import type { DialRelay } from '../seams/relay-socket.ts'

export interface ListenOptions<T> {
  readonly relay: string
  /** Answers the relay when it wants to know who asks. */
  readonly signer: EventSigner
  readonly clock: Clock
  readonly dial: DialRelay
  readonly filter: () => Filter
  /** How long to listen at most, in milliseconds. */
  readonly waitMs: number
  /** How long to go on once everything stored was heard, where that is less. */
  readonly quietMs?: number
  /**
   * Looks at what was heard since the last look, oldest heard first, its signatures unchecked; null: go on. Called when
   * all that was stored is here, and with each event after that. A new connection brings what is stored once more.
   */
  readonly consider: (heard: readonly NostrEvent[]) => Promise<T | null>
}

interface State<T> {
  readonly options: ListenOptions<T>
  /** What is still to be looked at. */
  heard: NostrEvent[]
  readonly settle: (outcome: T | null | Error) => void
  connection: RelayConnection | null
  considering: boolean
  again: boolean
  live: boolean
  over: boolean
  why: string
  deadline: Timer | null
  redial: Timer | null
}

/**
 * Listens on one relay, over as many connections as it takes, until what was heard is enough; null when it never was.
 * Refuses `timeout` when the relay could not be used at all.
 */
export function listen<T>(options: ListenOptions<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const state: State<T> = {
      options,
      heard: [],
      connection: null,
      considering: false,
      again: false,
      live: false,
      over: false,
      why: 'the relay could not be reached in time',
      deadline: null,
      redial: null,
      settle(outcome) {
        if (state.over) return
        state.over = true
        state.deadline?.cancel()
        state.redial?.cancel()
        state.connection?.close()
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      },
    }
    endIn(state, options.waitMs)
    dial(state)
  })
}

function dial<T>(state: State<T>): void {
  const { relay, signer, clock, dial: dialRelay, filter } = state.options
  state.connection = connectRelay(
    { url: relay, signer, clock, dial: dialRelay, subscription: 'listen', filters: () => [filter()] },
    {
      event(event) {
        // A relay may send without end. What is stored comes newest first.
        if (state.heard.length < listenHeardMax) state.heard.push(event)
        if (state.live) void consider(state)
      },
      live() {
        const { quietMs } = state.options
        if (!state.live && quietMs !== undefined) endIn(state, quietMs)
        state.live = true
        void consider(state)
      },
      published: () => {},
      ended({ message }) {
        state.why = `the relay could not be used: ${message}`
        if (!state.over) state.redial = clock.after(deviceRetryMs, () => dial(state))
      },
    },
  )
}

function endIn<T>(state: State<T>, ms: number): void {
  state.deadline?.cancel()
  state.deadline = state.options.clock.after(ms, () => {
    // What is being looked at may be what was waited for.
    if (state.considering) endIn(state, ms)
    else state.settle(state.live ? null : new Refusal('timeout', state.why))
  })
}

/** One look at a time: what comes meanwhile is looked at next. */
async function consider<T>(state: State<T>): Promise<void> {
  state.again = true
  if (state.considering) return
  state.considering = true
  try {
    while (state.again && !state.over) {
      state.again = false
      const heard = state.heard
      state.heard = []
      const found = await state.options.consider(heard)
      if (found !== null) state.settle(found)
    }
  } catch (error) {
    state.settle(error as Error)
  } finally {
    state.considering = false
  }
}
