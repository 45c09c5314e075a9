import { conversationKeysMax, strangerKeysMax } from '../limits.ts'
import { createConversationKeys } from '../protocol/conversation-keys.ts'

/** The host's conversation keys with its peers. */
export interface PeerKeys {
  get(peer: string): Uint8Array
  /** Forgets a peer, as a revocation does. */
  drop(peer: string): void
}

/**
 * Keeps the keys of strangers apart, and few of them: however many write, they never push out those of peers that the
 * host knows.
 * @see spec/wire.md §7
 */
export function createPeerKeys(secretHex: string, isKnown: (peer: string) => boolean): PeerKeys {
  const known = createConversationKeys(secretHex, conversationKeysMax)
  const strangers = createConversationKeys(secretHex, strangerKeysMax)
  return {
    get: (peer) => (isKnown(peer) ? known : strangers).get(peer),
    drop(peer) {
      known.drop(peer)
      strangers.drop(peer)
    },
  }
}
