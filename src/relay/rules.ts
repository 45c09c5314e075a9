import { artifactKind } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'

/** What the rules and filters look at. The content is nobody's business here. */
export type EventHead = Omit<NostrEvent, 'content' | 'sig'>

/** The key a private artifact is addressed to, or null unless it has exactly one `p` tag. */
export function recipientOf(event: EventHead): string | null {
  const named = event.tags.filter((tag) => tag[0] === 'p')
  const [only] = named
  if (named.length !== 1 || only === undefined) return null
  const key = only[1]
  return key !== undefined && /^[0-9a-f]{64}$/.test(key) ? key : null
}

/**
 * Why the relay will not keep an event whose shape is right, as the text of its OK, or null when it may.
 * The signature is checked after this: it is the expensive part.
 * @param serves host keys, or null for anybody
 * @see spec/wire.md §8
 */
export function storageRefusal(event: EventHead, serves: readonly string[] | null): string | null {
  if (event.kind !== artifactKind) return `blocked: only kind ${artifactKind} is carried`
  const recipient = recipientOf(event)
  if (recipient === null) return 'invalid: exactly one recipient is needed'
  if (serves === null || serves.includes(event.pubkey) || serves.includes(recipient)) return null
  return 'blocked: neither from nor to a host that is served here'
}

/**
 * Whether a connection authenticated as `keys` may know that `event` exists: its author or its recipient only.
 * @see spec/wire.md §2
 */
export function mayRead(event: EventHead, keys: ReadonlySet<string>): boolean {
  if (keys.has(event.pubkey)) return true
  const recipient = recipientOf(event)
  return recipient !== null && keys.has(recipient)
}
