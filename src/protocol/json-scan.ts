import { closingQuote } from './json-glance.ts'
import { Refusal } from './refusal.ts'
import { hasLoneSurrogate } from './text.ts'

/** One open object or list, and where in it the scan is: at which key, or at which index. */
interface Frame {
  at: string | number
  expectsKey: boolean
}

interface Scan {
  readonly text: string
  readonly frames: Frame[]
  readonly loose: string[]
}

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Judges what `JSON.parse` lets through in strings and numbers. The depth was bounded before and the grammar is
 * checked afterwards; nothing is said about either.
 * Refuses `malformed` for a lone surrogate, an integer out of range and a number that is not finite.
 * @returns dotted paths of integer values that are not written as integers
 */
export function looseNumbers(text: string): string[] {
  const scan: Scan = { text, frames: [], loose: [] }
  let position = 0
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (code === quote) position = takeString(scan, position)
    else if (code === minus || (code >= zero && code <= nine)) position = takeNumber(scan, position)
    else {
      takeStructure(scan.frames, code)
      position += 1
    }
  }
  return scan.loose
}

function takeStructure(frames: Frame[], code: number): void {
  if (code === openObject) frames.push({ at: '', expectsKey: true })
  else if (code === openList) frames.push({ at: 0, expectsKey: false })
  else if (code === closeObject || code === closeList) frames.pop()
  else if (code === comma) {
    const frame = frames.at(-1)
    if (frame === undefined) return
    if (typeof frame.at === 'number') frame.at += 1
    else frame.expectsKey = true
  }
}

function takeString({ text, frames }: Scan, start: number): number {
  const end = closingQuote(text, start, true)
  const raw = text.slice(start + 1, end)
  const string = raw.includes('\\') ? unescaped(raw) : raw
  const frame = frames.at(-1)
  if (frame?.expectsKey === true) {
    frame.at = string
    frame.expectsKey = false
  }
  return end + 1
}

function unescaped(raw: string): string {
  let text: string
  try {
    text = JSON.parse(`"${raw}"`)
  } catch {
    throw new Refusal('malformed', 'JSON: not well formed')
  }
  if (hasLoneSurrogate(text)) throw new Refusal('malformed', 'JSON: lone surrogate')
  return text
}

const numberToken = /-?[0-9.eE+-]*/y

function takeNumber(scan: Scan, start: number): number {
  numberToken.lastIndex = start
  const token = numberToken.exec(scan.text)?.[0] ?? ''
  const value = Number(token)
  if (token === '-0' || /[.eE]/.test(token)) {
    if (!Number.isFinite(value)) throw new Refusal('malformed', 'JSON: not a finite number')
    if (Number.isInteger(value)) scan.loose.push(scan.frames.map((frame) => frame.at).join('.'))
  } else if (!Number.isSafeInteger(value)) {
    throw new Refusal('malformed', 'JSON: integer out of range')
  }
  return start + token.length
}
