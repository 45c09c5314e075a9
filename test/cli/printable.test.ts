import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonLine, printable, printableBlock } from '../../src/cli/printable.ts'

describe('text from elsewhere on a terminal', () => {
  it.each([
    ['a bell', 'a\u0007b', 'a\\x07b'],
    ['an escape sequence', '\u001b[31mred', '\\x1b[31mred'],
    ['a carriage return', 'real\rfake', 'real\\x0dfake'],
    ['a C1 control', 'a\u009bb', 'a\\x9bb'],
    ['a right-to-left override', 'txt\u202efdp', 'txt\\u{202e}fdp'],
    ['an isolate', 'a\u2066b\u2069', 'a\\u{2066}b\\u{2069}'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['a line feed', 'a\nb', 'a\\x0ab'],
    ['a lone surrogate', 'a\ud800b', 'a\\u{d800}b'],
  ])('shows %s as an escape', (_what, text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  it('leaves letters of every script and whole emoji alone', () => {
    expect(printable('Ærlig שלום 漢字 🙂')).toBe('Ærlig שלום 漢字 🙂')
  })

  it('keeps the line feeds and tabs of a block, and nothing else', () => {
    expect(printableBlock('a\n\tb\r\n')).toBe('a\n\tb\\x0d\n')
  })

  it('never lets a control or bidirectional character through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f]/u)
      }),
    )
  })

  it('escapes them in JSON without changing the value', () => {
    expect(jsonLine({ a: 'x\u009b\u202e' })).toBe('{"a":"x\\u009b\\u202e"}\n')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const line = jsonLine([text])
        expect(JSON.parse(line)).toEqual([text])
        expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f]/u)
      }),
    )
  })
})
