import * as z from 'zod'
import { bodyBytesMax, envelopeOverheadBytesMax } from '../limits.ts'
import { isOpaquePath } from './body.ts'
import { sha256Digest } from './digest.ts'
import { envelopeTimesAgree } from './envelope-times.ts'
import { count, header } from './fields.ts'
import { jcs } from './jcs.ts'
import { isJsonObject, type JsonObject } from './json-value.ts'
import { digestText, unixSeconds } from './keys.ts'
import { Refusal } from './refusal.ts'
import { parseStrictJson } from './strict-json.ts'
import { utf8Bytes } from './text.ts'

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

/**
 * The JSON text of an envelope around a body. Refuses `malformed` when the body is none or its times disagree.
 * @param issuedAt Unix seconds, like `retainUntil`
 * @see spec/wire.md §2
 */
export function envelopeText(body: unknown, issuedAt: number, retainUntil: number): string {
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

/**
 * Reads the JSON of an envelope. `looseOperation`: an integer in the operation of a request is not written as one.
 * Refuses `malformed`, and `unsupported` for another version.
 */
export function readEnvelope(plaintext: Uint8Array): {
  envelope: z.infer<typeof envelopeSchema>
  looseOperation: boolean
} {
  const { value, looseIntegers } = parseStrictJson(plaintext, {
    bytesMax: bodyBytesMax + envelopeOverheadBytesMax,
  })
  const loose = looseIntegers.filter((path) => !isOpaquePath(withoutInline(path)))
  if (loose.some((path) => !/^op(\.|$)/.test(withoutInline(path)))) throw unreadable('inline')
  const read = envelopeSchema.safeParse(value)
  if (read.success) return { envelope: read.data, looseOperation: loose.length > 0 }
  const { v, requires } = isJsonObject(value) ? value : {}
  if (typeof v === 'string' && v !== envelopeVersion) throw unsupported('v')
  if (Array.isArray(requires) && requires.length > 0) throw unsupported('requires')
  throw unreadable('inline')
}

/** A dotted path of the envelope as a path of its body; what is not in the body has none. */
function withoutInline(path: string): string {
  return path.startsWith('inline.') ? path.slice('inline.'.length) : ''
}

/** The refusal for an envelope that is to be ignored, naming the field. */
export function unreadable(field: string): Refusal {
  return new Refusal('malformed', `envelope: malformed at ${field}`, { field })
}

function unsupported(field: string): Refusal {
  return new Refusal('unsupported', `envelope: unsupported at ${field}`, { field })
}
