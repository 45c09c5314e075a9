import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nestingMax } from '../../src/limits.ts'
import { parseStrictJson, parseStrictJsonText } from '../../src/protocol/strict-json.ts'
import { refused } from '../support/refusals.ts'

const encoder = new TextEncoder()
const parse = (text: string) => parseStrictJson(encoder.encode(text), { bytesMax: 1_000_000 })
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const refusedTexts: [string, string][] = [
  ['nothing', ''],
  ['only white space', ' \n'],
  ['a byte order mark', '\ufeff{}'],
  ['bytes after the value', '{} {}'],
  ['a stray letter after the value', '1x'],
  ['a duplicate key', '{"a":1,"a":2}'],
  ['a duplicate key with equal values', '{"a":1,"a":1}'],
  ['a duplicate key deep inside', '{"a":[{"b":{"c":1,"d":2,"c":3}}]}'],
  ['a duplicate key written with an escape', '{"a":1,"\\u0061":2}'],
  ['a duplicate integer-like key', '{"1":1,"1":2}'],
  ['a duplicate __proto__', '{"__proto__":1,"__proto__":2}'],
  ['a duplicate empty key', '{"":1,"":2}'],
  ['a raw control character in a string', '"a\u0001b"'],
  ['a raw line break in a string', '"a\nb"'],
  ['a bad escape', '"\\x41"'],
  ['a short escape', '"\\u12"'],
  ['a lone high surrogate escape', '"\\ud800"'],
  ['a lone low surrogate escape', '"\\udc00 "'],
  ['swapped surrogate escapes', '"\\udc00\\ud800"'],
  ['a lone surrogate in a key', '{"\\ud800":1}'],
  ['an upper-case lone surrogate escape', '"\\uD83D"'],
  ['nesting deeper than 64', nested(nestingMax + 1)],
  ['nesting deeper than 64 in objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ['a hundred thousand open lists', '['.repeat(100_000)],
  ['an integer above the safe ones', '9007199254740992'],
  ['an integer below the safe ones', '-9007199254740992'],
  ['an integer that rounds into the safe ones', '9007199254740993'],
  ['an integer of 400 digits', '1'.repeat(400)],
  ['a number that is not finite', '1e400'],
  ['a negative number that is not finite', '[-1E999]'],
  ['NaN', 'NaN'],
  ['Infinity', '-Infinity'],
  ['a leading zero', '01'],
  ['a leading plus', '+1'],
  ['a bare fraction', '.5'],
  ['a trailing point', '1.'],
  ['a bare exponent', '1e'],
  ['a lone minus', '-'],
  ['a trailing comma in a list', '[1,]'],
  ['a trailing comma in an object', '{"a":1,}'],
  ['a missing comma', '[1 2]'],
  ['a missing colon', '{"a" 1}'],
  ['two colons', '{"a"::1}'],
  ['a key without a value', '{"a"}'],
  ['single quotes', "{'a':1}"],
  ['an unquoted key', '{a:1}'],
  ['a comment', '{/* */}'],
  ['an unclosed string', '"abc'],
  ['an unclosed string after an escape', '"abc\\"'],
  ['an unclosed object', '{"a":1'],
  ['crossed brackets', '[{]}'],
  ['a closing bracket alone', ']'],
  ['a wrong literal', 'nul'],
  ['an exotic space', '\u00a01'],
]

describe('strict JSON', () => {
  it.each(refusedTexts)('refuses %s', async (_name, text) => {
    const refusal = await refused('malformed', () => parse(text))
    expect(refusal.cause).toBeUndefined()
  })

  it.each([
    ['a bad lead byte', [0x22, 0xff, 0x22]],
    ['a cut character', [0x22, 0xc3, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0x80, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x31]],
    ['UTF-16', [0xff, 0xfe, 0x31, 0x00]],
  ])('refuses bytes with %s', async (_name, bytes) => {
    await refused('malformed', () => parseStrictJson(Uint8Array.from(bytes), { bytesMax: 100 }))
  })

  it('counts its bound in bytes and checks it first', async () => {
    const text = '"éé"'
    expect(parseStrictJson(encoder.encode(text), { bytesMax: 6 }).value).toBe('éé')
    await refused('bounds', () => parseStrictJson(encoder.encode(text), { bytesMax: 5 }))
    await refused('bounds', () => parseStrictJsonText(text, { bytesMax: 5 }))
    await refused('bounds', () => parseStrictJson(encoder.encode('{{{{{{'), { bytesMax: 5 }))
  })

  it('refuses a lone surrogate in text that was decoded elsewhere', async () => {
    await refused('malformed', () => parseStrictJsonText('"\ud800"', { bytesMax: 100 }))
    expect(parseStrictJsonText('"\u{1f600}"', { bytesMax: 100 }).value).toBe('\u{1f600}')
  })

  it('accepts what is only unusual', () => {
    expect(parse(nested(nestingMax)).value).toHaveLength(1)
    expect(parse(' \t\r\n{ "a" : [ 1 , -2 ] } \n').value).toEqual({ a: [1, -2] })
    expect(parse('[9007199254740991,-9007199254740991]').value).toEqual([
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
    ])
    expect(parse('"\\ud83d\\ude00\\u0000\\/"').value).toBe('\u{1f600}\u0000/')
    expect(parse('{"a":{"a":1},"b":[{"a":1},{"a":1}]}').value).toEqual({
      a: { a: 1 },
      b: [{ a: 1 }, { a: 1 }],
    })
    expect(parse('{"a:b":"{[:,\\":}]","c":"\\\\"}').value).toEqual({ 'a:b': '{[:,":}]', c: '\\' })
    expect(Object.keys(parse('{"__proto__":1,"constructor":2}').value as object)).toEqual([
      '__proto__',
      'constructor',
    ])
  })

  it('names where an integer is not written as one', () => {
    const text = '{"a":1.0,"b":[1,{"c":1e3,"d":1.5}],"e":-0,"\\u0066":[[2E0]],"g":-0.0,"h":10,"i":1e-3}'
    expect(parse(text).looseIntegers).toEqual(['a', 'b.1.c', 'e', 'f.0.0', 'g'])
    expect(parse('[0,-1,1.25,12345678901234]').looseIntegers).toEqual([])
    expect(parse('1.0').looseIntegers).toEqual([''])
  })

  it('never says what it read', async () => {
    const refusal = await refused('malformed', () => parse('{"capability":"s3cret" "x"}'))
    expect(String(refusal.stack)).not.toContain('s3cret')
  })

  it('gives what JSON.parse gives for every value that JSON can carry', () => {
    fc.assert(
      fc.property(wellFormed, fc.constantFrom(0, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parse(text).value).toEqual(JSON.parse(text))
        expect(parseStrictJsonText(text, { bytesMax: 1_000_000 })).toEqual(parse(text))
      }),
    )
  })

  it('refuses whatever JSON.parse refuses, however a text is damaged', () => {
    fc.assert(
      fc.property(
        wellFormed,
        fc.nat(),
        fc.string({ maxLength: 2, unit: 'binary-ascii' }),
        (value, at, insert) => {
          const text = JSON.stringify(value)
          const cut = at % (text.length + 1)
          const damaged = text.slice(0, cut) + insert + text.slice(cut + (at % 3))
          if (accepts(() => parse(damaged))) expect(accepts(() => JSON.parse(damaged))).toBe(true)
        },
      ),
    )
  })

  it('refuses a repeated key wherever it is put', () => {
    fc.assert(
      fc.property(wellFormed, fc.string({ unit: 'grapheme' }), wellFormed, (before, key, after) => {
        const name = JSON.stringify(key)
        const text = `{"x${key.length}":${JSON.stringify([before])},${name}:1,"y":[{${name}:${JSON.stringify(after)},${name}:0}]}`
        expect(accepts(() => parse(text))).toBe(false)
      }),
    )
  })
})

const wellFormed = fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 6 }).filter(hasOnlyFairNumbers)

/** fast-check makes -0 and large integers, which JSON carries and the strict rules refuse or report. */
function hasOnlyFairNumbers(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every(hasOnlyFairNumbers)
}

function accepts(action: () => unknown): boolean {
  try {
    action()
    return true
  } catch {
    return false
  }
}
