import { conversationKey } from './nip44.ts'

/** The conversation keys of one secret key with its peers. */
export interface ConversationKeys {
  /** Refuses `malformed` for a peer that is not a public key. */
  get(peer: string): Uint8Array
  /** Forgets a peer, as a revocation does. */
  drop(peer: string): void
  size(): number
}

/**
 * Keeps the conversation keys of the `max` peers that were asked for last: deriving one costs some twenty times the
 * rest of opening an envelope.
 */
export function createConversationKeys(secretHex: string, max: number): ConversationKeys {
  const keys = new Map<string, Uint8Array>()
  return {
    get(peer) {
      const key = keys.get(peer) ?? conversationKey(secretHex, peer)
      keys.delete(peer)
      keys.set(peer, key)
      for (const oldest of keys.keys()) {
        if (keys.size <= max) break
        keys.delete(oldest)
      }
      return key
    },
    drop: (peer) => void keys.delete(peer),
    size: () => keys.size,
  }
}
