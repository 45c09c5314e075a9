import * as z from 'zod'
import { eventTagsMax } from '../limits.ts'
import { Refusal } from './refusal.ts'
import { refusalOf } from './refusal-issues.ts'

const hex64 = z.string().regex(/^[0-9a-f]{64}$/)

/** A signed Nostr event: exactly the seven fields of NIP-01, each of its exact shape. */
export const eventSchema = z.strictObject({
  id: hex64,
  pubkey: hex64,
  created_at: z.int().nonnegative(),
  kind: z.int().min(0).max(65_535),
  tags: z.array(z.array(z.string())).max(eventTagsMax),
  content: z.string(),
  sig: z.string().regex(/^[0-9a-f]{128}$/),
})
export type NostrEvent = z.infer<typeof eventSchema>

/** What a signer is asked to sign. */
export type EventTemplate = Pick<NostrEvent, 'kind' | 'created_at' | 'tags' | 'content'>

/**
 * A freshly built event of checked shape; its id and signature are not verified here.
 * Refuses `malformed`.
 */
export function parseEvent(value: unknown): NostrEvent {
  const read = eventSchema.safeParse(value)
  if (!read.success) throw refusalOf(read.error.issues, 'event')
  return read.data
}

/** The event as one line of JSON, its fields in a fixed order: the bytes whose length a relay sees. */
export function eventJson(event: NostrEvent): string {
  const { id, pubkey, created_at, kind, tags, content, sig } = event
  return JSON.stringify({ id, pubkey, created_at, kind, tags, content, sig })
}

/** Refuses `bounds`, with the numbers, when the signed event is longer than `bytesMax` as JSON. */
export function checkEventBytes(event: NostrEvent, bytesMax: number): void {
  const bytes = new TextEncoder().encode(eventJson(event)).length
  if (bytes > bytesMax) throw new Refusal('bounds', `signed event of ${bytes} bytes is over ${bytesMax}`)
}
