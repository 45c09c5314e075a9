import type { NostrEvent } from '../protocol/event.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import type { EventSigner } from '../protocol/signer.ts'
import type { Clock } from '../seams/clock.ts'
import type { Random } from '../seams/random.ts'
import type { AskRelayInformation } from '../seams/relay-information.ts'
import type { DialRelay } from '../seams/relay-socket.ts'
import type { RelayState } from './relay-state.ts'

/** How an event reached the host. */
export interface Arrival {
  /** The relay it arrived on, exactly as dialled. */
  readonly relay: string
  /** It came before the end of the stored events: history, never "asked again". */
  readonly stored: boolean
  /** The same event was seen before on this very subscription, and came once more after its stored events ended. */
  readonly again: boolean
}

export interface RelayLinkOptions {
  readonly url: string
  readonly signer: EventSigner
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  /** Asks the relay what it takes; without it nothing is known of that. */
  readonly information?: AskRelayInformation
  /**
   * Whether an event's ID and signature hold. Called for every event that was not seen before; only a true answer
   * marks the ID as seen, so a forgery never hides the genuine event. May say false for cost (strangers).
   */
  readonly verify: (event: NostrEvent) => boolean
  readonly onEvent: (event: NostrEvent, arrival: Arrival) => void
  readonly onState?: (state: RelayState) => void
  /**
   * Nobody listened for longer than a subscription lives, or not since the start: what to ask for beside what was sent
   * since `historySeconds` ago.
   */
  readonly afterGap?: () => readonly Filter[]
  /** How long one connection serves before the next takes over. */
  readonly lifetimeSeconds?: number
}
