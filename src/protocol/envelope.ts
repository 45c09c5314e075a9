import * as z from 'zod'
import { envelopeContentBytesMax, plaintextBytesMax } from '../limits.ts'
import type { Random } from '../seams/random.ts'
import { sha256Digest } from './digest.ts'
import { envelopeText, readEnvelope, unreadable } from './envelope-text.ts'
import { envelopeTimesAgree } from './envelope-times.ts'
import type { EventTemplate, NostrEvent } from './event.ts'
import { eventJson } from './event.ts'
import { jcs } from './jcs.ts'
import type { JsonObject } from './json-value.ts'
import { hexId, publicKey } from './keys.ts'
import { decryptToBytes, encrypt, payloadChars } from './nip44.ts'
import { Refusal } from './refusal.ts'
import { type Signer, verifyEvent } from './signer.ts'
import { utf8Bytes } from './text.ts'

/** The kind of an event that carries a private artifact. @see spec/wire.md §2 */
export const artifactKind = 3_188

const artifactTag = 'oa:artifact:v1'

/** What an envelope said, its body still to be read by `parseBody`. Keys and the mailbox are 64 hex. */
export interface OpenedEnvelope {
  readonly author: string
  readonly recipient: string
  readonly mailbox: string
  /** The schema string of the body. */
  readonly schema: string
  readonly body: JsonObject
  readonly issued_at: number
  readonly retain_until: number
  /** Whether an integer in the operation of a request is not written as one; opened only when that is asked for. */
  readonly looseOperation?: true
}

/** How an envelope is opened. */
export interface Opening {
  /** Content above this is not decrypted: 400 KiB unless less is asked. */
  readonly contentBytesMax?: number
  /** Opens a request in whose `op` alone an integer is loose (`1.0`), so that it can be answered. */
  readonly looseOperations?: boolean
}

/** Where a sealed body goes and how long it is of use. Times are Unix seconds. */
export interface Sealing {
  readonly signer: Signer
  readonly recipient: string
  readonly mailbox: string
  readonly body: unknown
  /** Of the signer and the recipient. */
  readonly conversationKey: Uint8Array
  readonly issuedAt: number
  readonly retainUntil: number
  readonly random: Random
}

/**
 * Seals a body for one recipient. Refuses `malformed` when the body is not JSON or its times disagree with the
 * envelope's, and `bounds`, with the numbers, when the plaintext is longer than other implementations can read.
 * @see spec/wire.md §2
 */
export function sealEnvelope(sealing: Sealing): NostrEvent {
  const plaintext = envelopePlaintext(sealing)
  const content = encrypt(plaintext, sealing.conversationKey, sealing.random.bytes(32))
  return sealing.signer.sign(envelopeTemplate(sealing, content))
}

/** What an envelope encrypts. Refuses as `sealEnvelope` does. */
export function envelopePlaintext({
  body,
  issuedAt,
  retainUntil,
}: Pick<Sealing, 'body' | 'issuedAt' | 'retainUntil'>): string {
  const plaintext = envelopeText(body, issuedAt, retainUntil)
  const bytes = utf8Bytes(plaintext)
  if (bytes > plaintextBytesMax) {
    throw new Refusal('bounds', `envelope of ${bytes} bytes is over ${plaintextBytesMax}`)
  }
  return plaintext
}

/** What the author of an envelope signs. */
export function envelopeTemplate(
  { recipient, mailbox, issuedAt }: Pick<Sealing, 'recipient' | 'mailbox' | 'issuedAt'>,
  content: string,
): EventTemplate {
  const tags = [
    ['p', recipient],
    ['h', mailbox],
    ['t', artifactTag],
  ]
  return { kind: artifactKind, created_at: issuedAt, tags, content }
}

/** How many bytes a signed artifact event has as JSON beside its content. */
export const emptyEventBytes = eventJson({
  id: '0'.repeat(64),
  pubkey: '0'.repeat(64),
  created_at: 1_000_000_000,
  kind: artifactKind,
  tags: [
    ['p', '0'.repeat(64)],
    ['h', '0'.repeat(64)],
    ['t', artifactTag],
  ],
  content: '',
  sig: '0'.repeat(128),
}).length

/**
 * How many bytes the signed event of a body has as JSON, without sealing it.
 * @param issuedAt Unix seconds, like `retainUntil`
 */
export function sealedBytes(body: unknown, issuedAt: number, retainUntil: number): number {
  return emptyEventBytes + payloadChars(utf8Bytes(envelopeText(body, issuedAt, retainUntil)))
}

/** The public part of an event that claims to carry an artifact: who to whom, and in which mailbox. */
export interface EnvelopeAddress {
  readonly recipient: string
  readonly mailbox: string
}

/** Reads the tags of an artifact event. Refuses `malformed` unless they are exactly the three. @see spec/wire.md §2 */
export function envelopeAddress(event: NostrEvent): EnvelopeAddress {
  const [recipient, mailbox, mark] = ['p', 'h', 't'].map(
    (name) => event.tags.find((tag) => tag.length === 2 && tag[0] === name)?.[1],
  )
  const fits = event.kind === artifactKind && event.tags.length === 3 && mark === artifactTag
  const keys = z.tuple([publicKey, hexId]).safeParse([recipient, mailbox])
  if (!fits || !keys.success) throw unreadable('tags')
  return { recipient: keys.data[0], mailbox: keys.data[1] }
}

/**
 * Opens the envelope of an event whose id and signature the caller has verified.
 *
 * Refuses `bounds` for content over `contentBytesMax` (400 KiB unless less is asked), before decrypting, and else
 * `malformed`, or `unsupported` for an envelope of another version: such an event is to be ignored.
 * @param conversationKey of the author and the recipient
 * @see spec/wire.md §2
 */
export function openEnvelope(
  event: NostrEvent,
  conversationKey: Uint8Array,
  options: Opening = {},
): OpenedEnvelope {
  const { contentBytesMax = envelopeContentBytesMax } = options
  return readPlaintext(event, decryptToBytes(event.content, conversationKey, { contentBytesMax }), options)
}

/** Reads what was decrypted of a verified event. Refuses as `openEnvelope` does. */
export function readPlaintext(
  event: NostrEvent,
  plaintext: Uint8Array,
  { looseOperations = false }: Opening = {},
): OpenedEnvelope {
  const { recipient, mailbox } = envelopeAddress(event)
  const { envelope, looseOperation } = readEnvelope(plaintext)
  if (looseOperation && !looseOperations) throw unreadable('inline.op')
  const { artifact, inline, issued_at, retain_until } = envelope
  const canonical = jcs(inline)
  if (artifact.size !== utf8Bytes(canonical) || artifact.digest !== sha256Digest(canonical)) {
    throw unreadable('artifact.digest')
  }
  if (artifact.schema !== inline['v']) throw unreadable('artifact.schema')
  if (event.created_at !== issued_at || !envelopeTimesAgree(inline, issued_at, retain_until)) {
    throw unreadable('issued_at')
  }
  return {
    author: event.pubkey,
    recipient,
    mailbox,
    schema: artifact.schema,
    body: inline,
    issued_at,
    retain_until,
    ...(looseOperation ? { looseOperation } : {}),
  }
}

/**
 * Verifies an event and opens it from either end.
 * @param self the opener's public key: the author's or the recipient's
 * @param keyOf gives the conversation key with a peer
 */
export function openVerified(
  event: NostrEvent,
  self: string,
  keyOf: (peer: string) => Uint8Array,
  options: Opening = {},
): OpenedEnvelope {
  return openEnvelope(event, keyOf(verifiedPeer(event, self, options)), options)
}

/**
 * Verifies an event before it is opened, and says with whom `self` shares it. Refuses `bounds` for content over
 * `contentBytesMax`, and `malformed` for an event of other people or one whose signature is not its author's.
 */
export function verifiedPeer(
  event: NostrEvent,
  self: string,
  { contentBytesMax = envelopeContentBytesMax }: Opening = {},
): string {
  const { recipient } = envelopeAddress(event)
  if (self !== recipient && self !== event.pubkey) throw unreadable('tags')
  if (event.content.length > contentBytesMax) throw new Refusal('bounds', 'envelope: content too long')
  if (!verifyEvent(event)) throw unreadable('sig')
  return self === recipient ? event.pubkey : recipient
}
