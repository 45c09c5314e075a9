import { knownSignaturesMax } from '../limits.ts'
import { sha256Hex } from './digest.ts'
import type { NostrEvent } from './event.ts'

const known = new Set<string>()

/**
 * Whether this process has already made or verified this very signature. The id is computed from the event's own
 * fields each time, so only the curve arithmetic is spared: a signature's validity depends on nothing but the id, the
 * key and the signature.
 */
export function isKnownSignature(event: NostrEvent): boolean {
  return known.has(nameOf(event)) && event.id === hashOf(event)
}

/** Remembers a signature that was made or verified here; the oldest of many is forgotten. */
export function rememberSignature(event: NostrEvent): void {
  known.add(nameOf(event))
  if (known.size <= knownSignaturesMax) return
  const [oldest] = known
  if (oldest !== undefined) known.delete(oldest)
}

function nameOf({ id, pubkey, sig }: NostrEvent): string {
  return `${id}${pubkey}${sig}`
}

/** @see NIP-01 */
function hashOf({ pubkey, created_at, kind, tags, content }: NostrEvent): string {
  return sha256Hex(JSON.stringify([0, pubkey, created_at, kind, tags, content]))
}
