import fc from 'fast-check'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { TestKey } from '../support/keys.ts'
import { type ByteEdit, byteEdit, editedBytes } from './mutate-bytes.ts'
import { editedText, type ValueEdit, valueEdit } from './mutate-values.ts'
import { canonicalText, sealBytes, sha256, signRaw } from './raw-seal.ts'
import { readStrictly } from './rules/strict-reader.ts'

/** What is changed about an event beside its body. */
const outers = [
  'nothing',
  'another recipient',
  'another mailbox',
  'an upper-case mailbox',
  'one tag more',
  'one tag less',
  'a longer tag',
  'tags in another order',
  'another mark',
  'another kind',
  'a second earlier',
  'two years later',
  'another digest',
  'another size',
  'another schema',
  'cut payload',
  'flipped payload',
  'sealed for another',
  'no payload',
  'a too long payload',
  // After signing:
  'another signature',
  'another id',
  'another author',
  'another content',
  'another date',
] as const
export type Outer = (typeof outers)[number]

/** One fuzzed event, as it is to be made. Positions are taken modulo what is there. */
export interface EventPlan {
  readonly body: number
  readonly signer: number
  /** How far off the date is, in seconds. */
  readonly shift: number
  readonly bodyEdits: readonly ValueEdit[]
  /** Whether only the operation is changed, where the body has one. */
  readonly inOperation: boolean
  readonly envelopeEdits: readonly ValueEdit[]
  readonly byteEdits: readonly ByteEdit[]
  readonly outer: Outer
}

const seldom = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant<T[]>([]) },
    { weight: 1, arbitrary: fc.array(one, { minLength: 1, maxLength: 2 }) },
  )

export const eventPlan: fc.Arbitrary<EventPlan> = fc.record({
  body: fc.nat(1_000),
  signer: fc.nat(1_000),
  shift: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(-61, -60, -59, -1, 59, 60, 61, 62, 86_400) },
  ),
  bodyEdits: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(valueEdit, { minLength: 1, maxLength: 2 }) },
  ),
  inOperation: fc.boolean(),
  envelopeEdits: seldom(valueEdit),
  byteEdits: seldom(byteEdit),
  outer: fc.oneof(
    { weight: 6, arbitrary: fc.constant<Outer>('nothing') },
    { weight: 1, arbitrary: fc.constantFrom<Outer>(...outers) },
  ),
})

/** What an event is made of besides its plan. */
export interface EventMaterial {
  readonly body: Readonly<Record<string, unknown>>
  readonly mailbox: string
  readonly signer: TestKey
  readonly recipient: string
  /** Of the signer and the recipient. */
  readonly key: Uint8Array
  readonly others: readonly Uint8Array[]
  /** Unix seconds, where the body names no time. */
  readonly now: number
}

/** A made event, with what a judge may know of it without opening it. */
export interface MadeEvent {
  readonly event: NostrEvent
  /** What was sealed; null when the payload is none of the recipient's. */
  readonly plaintext: Uint8Array | null
  /** Whether the author signed exactly this. */
  readonly genuine: boolean
}

export function makeEvent(plan: EventPlan, material: EventMaterial): MadeEvent {
  const { outer } = plan
  const { signer, now } = material
  const bodyText = bodyTextOf(plan, material.body)
  const reading = readStrictly(Buffer.from(bodyText))
  const read = reading.ok && typeof reading.value === 'object' && reading.value !== null ? reading.value : {}
  const body: Record<string, unknown> = { ...read }
  const dated = (name: string, otherwise: number): number =>
    Number.isSafeInteger(body[name]) && Number(body[name]) >= 0 ? Number(body[name]) : otherwise
  const issued_at = dated('issued_at', dated('observed_at', dated('updated_at', now)))
  const plaintext = editedBytes(
    Buffer.from(envelopeText(plan, bodyText, body, issued_at, dated('expires_at', issued_at + 300))),
    plan.byteEdits,
    material.others,
  )
  const payload = payloadOf(outer, plaintext, material)
  const shift = outer === 'a second earlier' ? -1 : outer === 'two years later' ? 63_072_000 : 0
  const event = signRaw(
    {
      kind: outer === 'another kind' ? 3_187 : 3_188,
      created_at: Math.max(0, issued_at + shift),
      tags: tagsOf(outer, material),
      content: payload.content,
    },
    signer,
  )
  const shown = tampered(outer, event)
  return {
    event: shown,
    plaintext: payload.opens ? plaintext : null,
    genuine: JSON.stringify(shown) === JSON.stringify(event),
  }
}

function bodyTextOf({ inOperation, bodyEdits }: EventPlan, body: EventMaterial['body']): string {
  if (!inOperation || body['op'] === undefined) return editedText(body, bodyEdits)
  const { op, ...head } = body
  return JSON.stringify({ ...head, op: place }).replace(JSON.stringify(place), () =>
    editedText(op, bodyEdits),
  )
}

/** Where edited text is put in afterwards. */
const place = 'put here'

function envelopeText(
  { outer, envelopeEdits }: EventPlan,
  bodyText: string,
  body: Readonly<Record<string, unknown>>,
  issued_at: number,
  retain_until: number,
): string {
  const canonical = canonicalText(body)
  const size = Buffer.byteLength(canonical, 'utf8')
  const envelope = {
    v: 'openagents.artifact-envelope.v1',
    requires: [],
    artifact: {
      digest: `sha256:${sha256(outer === 'another digest' ? `${canonical} ` : canonical)}`,
      size: outer === 'another size' ? size + 1 : size,
      media_type: 'application/json',
      schema: outer === 'another schema' ? 'openagents.host-reply.v1' : (body['v'] ?? ''),
    },
    inline: place,
    issued_at,
    retain_until,
  }
  return editedText(envelope, envelopeEdits).replace(JSON.stringify(place), () => bodyText)
}

function payloadOf(
  outer: Outer,
  plaintext: Uint8Array,
  { key }: EventMaterial,
): { content: string; opens: boolean } {
  if (plaintext.length === 0 || outer === 'no payload') return { content: '', opens: false }
  if (outer === 'a too long payload') return { content: 'A'.repeat(409_604), opens: false }
  const foreign = Uint8Array.from(key, (byte) => byte ^ 1)
  const content = sealBytes(plaintext, outer === 'sealed for another' ? foreign : key)
  if (outer === 'cut payload') return { content: content.slice(0, -4), opens: false }
  if (outer === 'flipped payload') return { content: flipped(content, 60), opens: false }
  return { content, opens: outer !== 'sealed for another' }
}

function tagsOf(outer: Outer, { recipient, mailbox, signer }: EventMaterial): string[][] {
  const p = ['p', outer === 'another recipient' ? signer.publicKey : recipient]
  const h = ['h', mailbox]
  const t = ['t', outer === 'another mark' ? 'oa:artifact:v2' : 'oa:artifact:v1']
  if (outer === 'another mailbox') h[1] = sha256(mailbox)
  if (outer === 'an upper-case mailbox') h[1] = `A${mailbox.slice(1)}`
  if (outer === 'a longer tag') h.push('')
  if (outer === 'one tag more') return [p, h, t, ['e', mailbox]]
  if (outer === 'one tag less') return [p, t]
  return outer === 'tags in another order' ? [t, p, h] : [p, h, t]
}

function tampered(outer: Outer, event: NostrEvent): NostrEvent {
  switch (outer) {
    case 'another signature':
      return { ...event, sig: flippedHex(event.sig, 70) }
    case 'another id':
      return { ...event, id: flippedHex(event.id, 5) }
    case 'another author':
      return { ...event, pubkey: flippedHex(event.pubkey, 9) }
    case 'another content':
      return { ...event, content: flipped(event.content, 90) }
    case 'another date':
      return { ...event, created_at: event.created_at + 1 }
    default:
      return event
  }
}

function flipped(text: string, at: number): string {
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}

function flippedHex(text: string, at: number): string {
  return text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1)
}
