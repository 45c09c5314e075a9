import {
  relayBytesMax,
  relayEventSeconds,
  relayFiltersMax,
  relayFrameBytesMax,
  relayQueryEventsMax,
  relaySubscriptionsMax,
  subscriptionIdCharsMax,
} from '../limits.ts'
import { artifactKind } from '../protocol/envelope.ts'

/** The relay's NIP-11 document: what it carries, for how long, and every limit that a client could meet. */
export function relayInformation(): object {
  return {
    name: 'Drawbridge embedded relay',
    description: `Carries private artifacts (kind ${artifactKind}) between one host and its devices. Each is readable only by its author and its recipient, after NIP-42 authentication. In memory, at most ${relayBytesMax} bytes.`,
    supported_nips: [1, 11, 42, 45],
    software: 'drawbridge',
    limitation: {
      max_message_length: relayFrameBytesMax,
      max_subscriptions: relaySubscriptionsMax,
      max_filters: relayFiltersMax,
      max_limit: relayQueryEventsMax,
      max_subid_length: subscriptionIdCharsMax,
      auth_required: true,
      payment_required: false,
      restricted_writes: true,
    },
    retention: [{ kinds: [artifactKind], time: relayEventSeconds }, { time: 0 }],
  }
}
