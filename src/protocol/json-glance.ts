import { nestingMax } from '../limits.ts'
import { Refusal } from './refusal.ts'

/** What a glance over JSON text saw. */
export interface Glance {
  /** How many keys its objects have, repetitions counted. */
  readonly keys: number
  /** Whether it holds something that only the full scan can judge. */
  readonly needsScan: boolean
}

const quote = 0x22
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openList = 0x5b
const backslash = 0x5c
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const letterCase = 0x20
const letterE = 0x65
/** Every integer of so many characters, sign included, is within ±9007199254740991. */
const safeChars = 15

/**
 * One cheap pass that bounds the depth and finds out whether the slow scan is needed: for escaped code units, and
 * for numbers that are long or not written as plain integers. The grammar is left to `JSON.parse`.
 * Refuses `malformed` for nesting deeper than 64.
 */
export function glance(text: string): Glance {
  const hasEscapes = text.includes('\\')
  let needsScan = hasEscapes && text.includes('\\u')
  let keys = 0
  let depth = 0
  for (let position = 0; position < text.length; position += 1) {
    const code = text.charCodeAt(position)
    if (code === quote) position = closingQuote(text, position, hasEscapes)
    else if (code === colon) keys += 1
    else if (code === openObject || code === openList) {
      depth += 1
      if (depth > nestingMax) throw new Refusal('malformed', `JSON: nested deeper than ${nestingMax}`)
    } else if (code === closeObject || code === closeList) depth -= 1
    else if (code === minus || (code >= zero && code <= nine)) {
      const end = numberEnd(text, position)
      needsScan ||= end < 0 || end - position > safeChars || isNegativeZero(text, position, end)
      position = Math.abs(end) - 1
    }
  }
  return { keys, needsScan }
}

/** Where the string that opens at `start` closes; the end of the text if it does not. */
export function closingQuote(text: string, start: number, hasEscapes: boolean): number {
  let end = text.indexOf('"', start + 1)
  while (hasEscapes && end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, position: number): boolean {
  let first = position
  while (text.charCodeAt(first - 1) === backslash) first -= 1
  return (position - first) % 2 === 1
}

/** Where the number that starts at `start` ends; negative when it has a fraction or an exponent. */
function numberEnd(text: string, start: number): number {
  let end = start + 1
  let plain = true
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    if (code >= zero && code <= nine) continue
    if (code !== point && (code | letterCase) !== letterE) break
    plain = false
  }
  return plain ? end : -end
}

function isNegativeZero(text: string, start: number, end: number): boolean {
  return end - start === 2 && text.charCodeAt(start) === minus && text.charCodeAt(start + 1) === zero
}
