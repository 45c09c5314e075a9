import type { NostrEvent } from '../protocol/event.ts'
import type { Signer } from '../protocol/signer.ts'
import type { Clock } from '../seams/clock.ts'
import type { Random } from '../seams/random.ts'
import type { DialRelay } from '../seams/relay-socket.ts'

/** How an event reached the host. */
export interface Arrival {
  /** The relay it arrived on, exactly as dialled. */
  readonly relay: string
  /** It came before the end of the stored events: history, never "asked again". */
  readonly stored: boolean
  /** The same event was seen before on this very subscription after its stored events ended: asked again. */
  readonly again: boolean
}

/** What became of a published event. */
export type PublishOutcome =
  | { readonly outcome: 'accepted'; readonly duplicate: boolean }
  | { readonly outcome: 'refused'; readonly prefix: string; readonly message: string }
  /** No relay said anything while it was fresh. It may have been stored. */
  | { readonly outcome: 'unknown' }

/** What `status` shows of one relay. Times are Unix seconds. */
export interface RelayState {
  readonly url: string
  readonly state: 'connecting' | 'live' | 'waiting' | 'closed'
  readonly since: number
  readonly last_event: number | null
  readonly last_error: string | null
  readonly reconnects: number
  readonly unpublished: number
}

export interface RelayLinkOptions {
  readonly url: string
  readonly signer: Signer
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  /**
   * Whether an event's ID and signature hold. Called once per event that was not seen before; only a true answer
   * marks the ID as seen, so a forgery never hides the genuine event. May say false for cost (strangers).
   */
  readonly verify: (event: NostrEvent) => boolean
  readonly onEvent: (event: NostrEvent, arrival: Arrival) => void
  readonly onState?: (state: RelayState) => void
  readonly lifetimeSeconds?: number
}

export interface RelayLink {
  readonly url: string
  /** Resolves when a subscription is live, or after `relayReadySeconds`. Never rejects. */
  readonly ready: Promise<void>
  state(): RelayState
  /** Publishes, and publishes again until the relay says something final or host time reaches `freshUntil` (Unix seconds). */
  publish(event: NostrEvent, freshUntil: number): Promise<PublishOutcome>
  close(): void
}

export type CreateRelayLink = (options: RelayLinkOptions) => RelayLink
