import type { OkPrefix } from './relay-frames.ts'

/** What a publisher does about a relay's answer to its event. */
export type PublishAction =
  /** The event is there. */
  | 'done'
  /** AUTH, then the event again. */
  | 'authenticate'
  /** The event again, after a while. */
  | 'again'
  /** The event again, and everything else with it, at the relay's own pace. */
  | 'slow_down'
  /** This relay will never take it. */
  | 'give_up'

/** What a subscriber does when a relay ends its subscription. */
export type SubscribeAction =
  /** AUTH, then the same subscription again. */
  | 'authenticate'
  /** A new connection, after the usual pause. */
  | 'again'
  /** A new connection, after a long pause. */
  | 'slow_down'
  /** A new connection now and then: what is wrong, only a person can mend. */
  | 'rarely'

/**
 * What we do about every answer of a relay, by its machine-readable prefix, about an answer without one, and about none
 * at all. The publisher's column is for `OK` with false; with true the event is there whatever else is said. A NOTICE
 * is in no row: it names neither an event nor a subscription.
 * @see spec/wire.md §8
 */
export const relayAnswers: Readonly<
  Record<OkPrefix | 'silence', { readonly publisher: PublishAction; readonly subscriber: SubscribeAction }>
> = {
  duplicate: { publisher: 'done', subscriber: 'again' },
  'auth-required': { publisher: 'authenticate', subscriber: 'authenticate' },
  // Relays say so too when they want to know who asks.
  restricted: { publisher: 'authenticate', subscriber: 'authenticate' },
  'rate-limited': { publisher: 'slow_down', subscriber: 'slow_down' },
  error: { publisher: 'again', subscriber: 'again' },
  // Nobody was listening, and the relay did not keep it.
  mute: { publisher: 'again', subscriber: 'again' },
  pow: { publisher: 'give_up', subscriber: 'rarely' },
  blocked: { publisher: 'give_up', subscriber: 'rarely' },
  invalid: { publisher: 'give_up', subscriber: 'rarely' },
  none: { publisher: 'again', subscriber: 'again' },
  // It may have been stored: the same event again is only a duplicate.
  silence: { publisher: 'again', subscriber: 'again' },
}

/** What a publisher does about an `OK`. */
export function publishAction(accepted: boolean, prefix: OkPrefix): PublishAction {
  return accepted ? 'done' : relayAnswers[prefix].publisher
}
