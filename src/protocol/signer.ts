import * as pure from 'nostr-tools/pure'
import { fastEventCharsMax } from '../limits.ts'
import { type EventTemplate, eventSchema, type NostrEvent } from './event.ts'
import { publicKeyOf, secretBytes } from './keys.ts'
import { isKnownSignature, rememberSignature } from './known-signatures.ts'

/** Signs with one key, perhaps elsewhere: a remote signer takes its time, and may fail. */
export interface EventSigner {
  /** 64 lowercase hex. */
  readonly publicKey: string
  sign(template: EventTemplate): NostrEvent | Promise<NostrEvent>
}

/** Signs at once with one key, which it never shows. */
export interface Signer extends EventSigner {
  /** 64 lowercase hex. */
  readonly publicKey: string
  sign(template: EventTemplate): NostrEvent
}

/** Signing and verifying, by whichever implementation is loaded. Both take objects they may scribble on. */
interface Crypto {
  finalizeEvent(template: EventTemplate, secret: Uint8Array): NostrEvent
  verifyEvent(event: NostrEvent): boolean
}

/** Quotes, comma and brackets of a part of a tag, generously. */
const tagPartChars = 5

let fast: Crypto = pure
let loading: Promise<void> | null = null

/**
 * Loads the WebAssembly implementation, five times as fast. Idempotent, never rejects: where it cannot load, the
 * pure one stays.
 */
export function loadFastCrypto(): Promise<void> {
  loading ??= loadWasm()
  return loading
}

/** A signer for a secret key of 64 hex. Refuses `malformed` for a scalar out of range. */
export function createSigner(secretHex: string): Signer {
  const secret = secretBytes(secretHex)
  return {
    publicKey: publicKeyOf(secretHex),
    sign({ kind, created_at, tags, content }) {
      const copy = { kind, created_at, tags: tags.map((tag) => [...tag]), content }
      const event = sevenFields(cryptoFor(copy).finalizeEvent(copy, secret))
      rememberSignature(event)
      return event
    },
  }
}

/**
 * Whether the id is the event's hash and the signature is the author's. Nothing is remembered about an object:
 * the implementations cache their answer on it, and a copy with other content would inherit that. What is remembered
 * is the signature, so that a process that is both relay and host works it out once.
 */
export function verifyEvent(event: NostrEvent): boolean {
  const read = eventSchema.safeParse(event)
  if (!read.success) return false
  if (isKnownSignature(read.data)) return true
  if (!cryptoFor(read.data).verifyEvent(sevenFields(read.data))) return false
  rememberSignature(read.data)
  return true
}

/** The WebAssembly implementation has a heap of one megabyte that does not grow: long events go to the pure one. */
function cryptoFor({ content, tags }: EventTemplate): Crypto {
  let chars = content.length
  for (const tag of tags) for (const part of tag) chars += part.length + tagPartChars
  return chars <= fastEventCharsMax ? fast : pure
}

function sevenFields({ id, pubkey, created_at, kind, tags, content, sig }: NostrEvent): NostrEvent {
  return { id, pubkey, created_at, kind, tags, content, sig }
}

async function loadWasm(): Promise<void> {
  try {
    const [wasm, { initNostrWasm }] = await Promise.all([import('nostr-tools/wasm'), import('nostr-wasm')])
    wasm.setNostrWasm(await initNostrWasm())
    fast = wasm
  } catch {
    // The pure implementation answers the same, only slower.
  }
}
