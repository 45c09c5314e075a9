import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { parseStrictJson, type StrictJson } from '../../src/protocol/strict-json.ts'
import { fuzzCases } from '../support/fuzz-cases.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { corpus } from './corpus.ts'
import { fuzzedBodies } from './fixtures.ts'
import { byteEdit, editedBytes } from './mutate-bytes.ts'
import { editedText, valueEdit } from './mutate-values.ts'
import { readStrictly } from './rules/strict-reader.ts'

const encoder = new TextEncoder()
const bodies = Object.values(fuzzedBodies)
const texts = bodies.map((body) => encoder.encode(JSON.stringify(body)))
const cases = fuzzCases('strict JSON')

function read(bytes: Uint8Array): StrictJson | null {
  try {
    return parseStrictJson(bytes, { bytesMax: 1_000_000 })
  } catch (error) {
    if (!isRefusal(error, 'malformed')) throw error
    return null
  }
}

/** The reader against one that was written apart from it, and against the platform's where that one is right. */
function compare(bytes: Uint8Array): void {
  const ours = read(bytes)
  const theirs = readStrictly(bytes)
  expect(ours === null).toBe(!theirs.ok)
  if (ours !== null && theirs.ok) {
    expect(isDeepStrictEqual(ours.value, JSON.parse(Buffer.from(bytes).toString('utf8')))).toBe(true)
    expect(isDeepStrictEqual(ours.value, theirs.value)).toBe(true)
    expect([...ours.looseIntegers].sort()).toEqual([...theirs.loose].sort())
  }
  cases.ran()
}

describe('strict JSON', () => {
  it('reads bytes that were damaged anywhere as the page says', () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(byteEdit, { minLength: 1, maxLength: 3 }), (from, edits) => {
        const start = texts[from % texts.length] ?? new Uint8Array(0)
        compare(editedBytes(start, edits, texts))
      }),
      { numRuns: fuzzRuns(1_000) },
    )
  })

  it('reads values whose parts were written otherwise, repeated or left out', () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(valueEdit, { minLength: 1, maxLength: 4 }), (from, edits) => {
        compare(encoder.encode(editedText(bodies[from % bodies.length], edits)))
      }),
      { numRuns: fuzzRuns(500) },
    )
  })

  it('reads any value, and any text that is nearly one', () => {
    fc.assert(
      fc.property(
        fc.json({ stringUnit: 'grapheme' }),
        fc.array(byteEdit, { maxLength: 2 }),
        (text, edits) => {
          compare(editedBytes(encoder.encode(text), edits, texts))
        },
      ),
      { numRuns: fuzzRuns(500) },
    )
  })

  it.each(corpus.json)('still reads %s as the page says', (_, text) => compare(Buffer.from(text, 'latin1')))
})
