import { nestingMax } from '../limits.ts'
import { Refusal } from './refusal.ts'
import { hasLoneSurrogate } from './text.ts'

/** One open object or list, and where in it the scan is. */
interface Frame {
  keys: Set<string> | null
  at: string | number
  expectsKey: boolean
}

/** How far the scan has come. */
interface Scan {
  readonly text: string
  readonly frames: Frame[]
  readonly loose: string[]
  readonly hasEscapes: boolean
}

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const openList = 0x5b
const backslash = 0x5c
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Finds what `JSON.parse` lets through: duplicate keys, lone surrogates, numbers out of range, deep nesting. It
 * assumes that the grammar is checked afterwards and says nothing about it.
 * @returns dotted paths of integer values that are not written as integers
 */
export function looseNumbers(text: string): string[] {
  const scan: Scan = { text, frames: [], loose: [], hasEscapes: text.includes('\\') }
  let position = 0
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (code === quote) position = takeString(scan, position)
    else if (code === minus || (code >= zero && code <= nine)) position = takeNumber(scan, position)
    else {
      takeStructure(scan, code)
      position += 1
    }
  }
  return scan.loose
}

function takeStructure(scan: Scan, code: number): void {
  const { frames } = scan
  if (code === openObject) open(frames, { keys: new Set(), at: '', expectsKey: true })
  else if (code === openList) open(frames, { keys: null, at: 0, expectsKey: false })
  else if (code === closeObject || code === closeList) frames.pop()
  else if (code === comma) {
    const frame = frames.at(-1)
    if (frame === undefined) return
    if (typeof frame.at === 'number') frame.at += 1
    else frame.expectsKey = true
  }
}

function open(frames: Frame[], frame: Frame): void {
  if (frames.length === nestingMax) throw new Refusal('malformed', `JSON: nested deeper than ${nestingMax}`)
  frames.push(frame)
}

function takeString(scan: Scan, start: number): number {
  const end = stringEnd(scan, start)
  const frame = scan.frames.at(-1)
  const isKey = frame?.expectsKey === true
  if (!isKey && !scan.hasEscapes) return end + 1
  const raw = scan.text.slice(start + 1, end)
  const text = scan.hasEscapes && raw.includes(isKey ? '\\' : '\\u') ? unescaped(raw) : raw
  if (isKey) {
    if (frame.keys?.has(text)) throw new Refusal('malformed', 'JSON: duplicate key')
    frame.keys?.add(text)
    frame.at = text
    frame.expectsKey = false
  }
  return end + 1
}

/** Where the string that opens at `start` closes; the end of the text if it does not. */
function stringEnd({ text, hasEscapes }: Scan, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (hasEscapes && end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, position: number): boolean {
  let first = position
  while (text.charCodeAt(first - 1) === backslash) first -= 1
  return (position - first) % 2 === 1
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
  const loose = token === '-0' || /[.eE]/.test(token)
  if (loose) {
    if (!Number.isFinite(value)) throw new Refusal('malformed', 'JSON: not a finite number')
    if (Number.isInteger(value)) scan.loose.push(scan.frames.map((frame) => frame.at).join('.'))
  } else if (!Number.isSafeInteger(value)) {
    throw new Refusal('malformed', 'JSON: integer out of range')
  }
  return start + token.length
}
