import { glance } from './json-glance.ts'
import { looseNumbers } from './json-scan.ts'
import type { JsonValue } from './json-value.ts'
import { Refusal } from './refusal.ts'
import { hasLoneSurrogate, utf8Bytes } from './text.ts'

/** A JSON value whose text held to the strict rules. */
export interface StrictJson {
  value: JsonValue
  /**
   * Dotted paths of the numbers written with a fraction, an exponent or a negative zero whose value is an integer.
   * A reader that expects an integer there refuses them.
   */
  looseIntegers: string[]
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads JSON bytes strictly. Refuses `bounds` above `bytesMax`, before anything else, and `malformed` for: invalid
 * UTF-8, a byte order mark, an empty body, bytes after the value, a duplicate key at any depth, a raw control
 * character or a lone surrogate in a string, nesting deeper than 64, an integer outside ±9007199254740991, a number
 * that is not finite, and any breach of JSON's grammar. No message carries what was read.
 * @see spec/wire.md §1, spec/store.md §1
 */
export function parseStrictJson(bytes: Uint8Array, { bytesMax }: { bytesMax: number }): StrictJson {
  if (bytes.length > bytesMax) throw tooLong(bytes.length, bytesMax)
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw new Refusal('malformed', 'JSON: not UTF-8')
  }
  return parseScanned(text)
}

/** The same for text that something else decoded, such as a WebSocket frame. `bytesMax` counts UTF-8 bytes. */
export function parseStrictJsonText(text: string, { bytesMax }: { bytesMax: number }): StrictJson {
  if (text.length > bytesMax || utf8Bytes(text) > bytesMax) throw tooLong(text.length, bytesMax)
  if (hasLoneSurrogate(text)) throw new Refusal('malformed', 'JSON: lone surrogate')
  return parseScanned(text)
}

/**
 * The depth is bounded before the parser sees the text, and the parser holds it to the grammar. A repeated key is
 * one that the text has and the value lost; only odd numbers and escapes need the slow scan.
 */
function parseScanned(text: string): StrictJson {
  const { keys, needsScan } = glance(text)
  const looseIntegers = needsScan ? looseNumbers(text) : []
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own message quotes what it read, so it is dropped.
    throw new Refusal('malformed', 'JSON: not well formed')
  }
  if (keyCount(value) !== keys) throw new Refusal('malformed', 'JSON: duplicate key')
  return { value, looseIntegers }
}

function keyCount(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += keyCount(item)
  } else {
    for (const item of Object.values(value)) count += 1 + keyCount(item)
  }
  return count
}

function tooLong(bytes: number, bytesMax: number): Refusal {
  return new Refusal('bounds', `JSON of ${bytes} bytes is over ${bytesMax}`)
}
