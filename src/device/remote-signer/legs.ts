import { deviceRetryMs } from '../../limits.ts'
import type { NostrEvent } from '../../protocol/event.ts'
import { connectRelay, type RelayConnection } from '../../protocol/relay-connection.ts'
import type { Filter } from '../../protocol/relay-frames.ts'
import type { Signer } from '../../protocol/signer.ts'
import type { Clock, Timer } from '../../seams/clock.ts'
import type { DialRelay } from '../../seams/relay-socket.ts'

export interface LegsOptions {
  readonly relays: readonly string[]
  /** The client's own key, for relays that want to know who asks. */
  readonly signer: Signer
  readonly clock: Clock
  readonly dial: DialRelay
  readonly filter: Filter
  /** An event of the subscription of any of the relays, its signature unchecked. */
  readonly event: (event: NostrEvent, stored: boolean) => void
  /** Why a relay is of no use just now, in words. */
  readonly trouble: (words: string) => void
}

/** The relays of a remote signer: what is published goes to each, and again over every new connection. */
export interface Legs {
  publish(event: NostrEvent): void
  /** The event was answered. */
  forget(id: string): void
  close(): void
}

interface State {
  readonly options: LegsOptions
  readonly pending: Map<string, NostrEvent>
  readonly connections: Map<string, RelayConnection>
  readonly timers: Map<string, Timer>
  closed: boolean
}

/** Dials the relays when there is something to say, and again for as long as something waits for its answer. */
export function openLegs(options: LegsOptions): Legs {
  const state: State = {
    options,
    pending: new Map(),
    connections: new Map(),
    timers: new Map(),
    closed: false,
  }
  return {
    publish(event) {
      state.pending.set(event.id, event)
      for (const relay of options.relays) {
        const connection = state.connections.get(relay)
        if (connection === undefined) dial(state, relay)
        else connection.publish(event)
      }
    },
    forget(id) {
      state.pending.delete(id)
      for (const connection of state.connections.values()) connection.forget(id)
    },
    close() {
      state.closed = true
      for (const timer of state.timers.values()) timer.cancel()
      for (const connection of state.connections.values()) connection.close()
    },
  }
}

function dial(state: State, relay: string): void {
  const { signer, clock, dial: dialRelay, filter, event, trouble } = state.options
  if (state.closed || state.connections.has(relay)) return
  let over = false
  const again = (): void => {
    over = true
    state.connections.delete(relay)
    if (state.closed) return
    state.timers.get(relay)?.cancel()
    const redial = () => (state.pending.size > 0 ? dial(state, relay) : undefined)
    state.timers.set(relay, clock.after(deviceRetryMs, redial))
  }
  const connection = connectRelay(
    { url: relay, signer, clock, dial: dialRelay, subscription: 'signer', filters: () => [filter] },
    {
      event,
      live: () => {},
      published(_id, outcome) {
        if (outcome.outcome === 'refused') trouble(`a relay did not take the request: ${outcome.message}`)
      },
      ended({ message }) {
        trouble(`a relay could not be used: ${message}`)
        again()
      },
    },
  )
  // A relay that cannot even be dialled is over by now.
  if (over) return
  state.connections.set(relay, connection)
  for (const waiting of state.pending.values()) connection.publish(waiting)
}
