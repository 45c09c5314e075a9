import * as z from 'zod'
import {
  bodyBytesMax,
  envelopeContentBytesMax,
  envelopeOverheadBytesMax,
  plaintextBytesMax,
} from '../limits.ts'
import type { Random } from '../seams/random.ts'
import { isOpaquePath } from './body.ts'
import { sha256Digest } from './digest.ts'
import { envelopeTimesAgree } from './envelope-times.ts'
import type { NostrEvent } from './event.ts'
import { eventJson } from './event.ts'
import { count, header } from './fields.ts'
import { jcs } from './jcs.ts'
import { isJsonObject, type JsonObject } from './json-value.ts'
import { digestText, hexId, publicKey, unixSeconds } from './keys.ts'
import { decryptToBytes, encrypt, payloadChars } from './nip44.ts'
import { Refusal } from './refusal.ts'
import { type Signer, verifyEvent } from './signer.ts'
import { parseStrictJson } from './strict-json.ts'
import { utf8Bytes } from './text.ts'

/** The kind of an event that carries a private artifact. @see spec/wire.md §2 */
export const artifactKind = 3_188

const artifactTag = 'oa:artifact:v1'
const envelopeVersion = 'openagents.artifact-envelope.v1'
const mediaType = 'application/json'

const envelopeSchema = z.strictObject({
  ...header(envelopeVersion),
  artifact: z.strictObject({
    digest: digestText,
    size: count.max(bodyBytesMax),
    media_type: z.literal(mediaType),
    schema: z.string(),
  }),
  inline: z.custom<JsonObject>(isJsonObject),
  issued_at: unixSeconds,
  retain_until: unixSeconds,
})

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
  const { signer, recipient, mailbox, body, issuedAt, retainUntil } = sealing
  const plaintext = envelopeText(body, issuedAt, retainUntil)
  const bytes = utf8Bytes(plaintext)
  if (bytes > plaintextBytesMax) {
    throw new Refusal('bounds', `envelope of ${bytes} bytes is over ${plaintextBytesMax}`)
  }
  return signer.sign({
    kind: artifactKind,
    created_at: issuedAt,
    tags: [
      ['p', recipient],
      ['h', mailbox],
      ['t', artifactTag],
    ],
    content: encrypt(plaintext, sealing.conversationKey, sealing.random.bytes(32)),
  })
}

/**
 * How many bytes the signed event of a body has as JSON, without sealing it.
 * @param issuedAt Unix seconds, like `retainUntil`
 */
export function sealedBytes(body: unknown, issuedAt: number, retainUntil: number): number {
  const empty = eventJson({
    id: '0'.repeat(64),
    pubkey: '0'.repeat(64),
    created_at: issuedAt,
    kind: artifactKind,
    tags: [
      ['p', '0'.repeat(64)],
      ['h', '0'.repeat(64)],
      ['t', artifactTag],
    ],
    content: '',
    sig: '0'.repeat(128),
  })
  return empty.length + payloadChars(utf8Bytes(envelopeText(body, issuedAt, retainUntil)))
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
  { contentBytesMax = envelopeContentBytesMax }: { contentBytesMax?: number } = {},
): OpenedEnvelope {
  const { recipient, mailbox } = envelopeAddress(event)
  const plaintext = decryptToBytes(event.content, conversationKey, { contentBytesMax })
  const { artifact, inline, issued_at, retain_until } = readEnvelope(plaintext)
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
  options: { contentBytesMax?: number } = {},
): OpenedEnvelope {
  const { recipient } = envelopeAddress(event)
  if (self !== recipient && self !== event.pubkey) throw unreadable('tags')
  if (event.content.length > (options.contentBytesMax ?? envelopeContentBytesMax)) {
    throw new Refusal('bounds', 'envelope: content too long')
  }
  if (!verifyEvent(event)) throw unreadable('sig')
  return openEnvelope(event, keyOf(self === recipient ? event.pubkey : recipient), options)
}

function envelopeText(body: unknown, issuedAt: number, retainUntil: number): string {
  const canonical = jcs(body)
  if (!isJsonObject(body) || typeof body['v'] !== 'string') throw unreadable('inline')
  if (!envelopeTimesAgree(body, issuedAt, retainUntil)) throw unreadable('issued_at')
  const artifact = {
    digest: sha256Digest(canonical),
    size: utf8Bytes(canonical),
    media_type: mediaType,
    schema: body['v'],
  }
  const head = JSON.stringify({ v: envelopeVersion, requires: [], artifact }).slice(0, -1)
  return `${head},"inline":${canonical},"issued_at":${issuedAt},"retain_until":${retainUntil}}`
}

function readEnvelope(plaintext: Uint8Array): z.infer<typeof envelopeSchema> {
  const { value, looseIntegers } = parseStrictJson(plaintext, {
    bytesMax: bodyBytesMax + envelopeOverheadBytesMax,
  })
  const isRead = (path: string) => !(path.startsWith('inline.') && isOpaquePath(path.slice('inline.'.length)))
  if (looseIntegers.some(isRead)) throw unreadable('inline')
  const read = envelopeSchema.safeParse(value)
  if (read.success) return read.data
  const { v, requires } = isJsonObject(value) ? value : {}
  if (typeof v === 'string' && v !== envelopeVersion) throw unsupported('v')
  if (Array.isArray(requires) && requires.length > 0) throw unsupported('requires')
  throw unreadable('inline')
}

function unreadable(field: string): Refusal {
  return new Refusal('malformed', `envelope: malformed at ${field}`, { field })
}

function unsupported(field: string): Refusal {
  return new Refusal('unsupported', `envelope: unsupported at ${field}`, { field })
}
