import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bodyBytesMax } from '../../src/limits.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { fuzzCases } from '../support/fuzz-cases.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { bodyNameOf } from '../support/host-fixtures.ts'
import { fuzzedBodies } from './fixtures.ts'
import { byteEdit, editedBytes } from './mutate-bytes.ts'
import { editedText, valueEdit } from './mutate-values.ts'
import { judgeBody, type RuledBody } from './rules/body-rules.ts'
import { readStrictly } from './rules/strict-reader.ts'

const encoder = new TextEncoder()
const bodies = Object.entries(fuzzedBodies)
  .filter(([name]) => !/^reply_(dispatched|queue|devices|workspaces|revoked)$/.test(name))
  .map(([, body]) => ({
    name: bodyNameOf(body) as RuledBody,
    body,
    text: encoder.encode(JSON.stringify(body)),
  }))
const texts = bodies.map(({ text }) => text)
const cases = fuzzCases('bodies')

type Policy = 'production' | 'loopback_test'

function codeOf(name: RuledBody, bytes: Uint8Array, policy: Policy): string {
  try {
    parseBody(name, bytes, policy)
    return 'ok'
  } catch (error) {
    if (!isRefusal(error)) throw error
    return error.code
  }
}

function expected(name: RuledBody, bytes: Uint8Array, policy: Policy): string {
  if (bytes.length > bodyBytesMax) return 'bounds'
  const reading = readStrictly(bytes)
  if (!reading.ok) return 'malformed'
  // An integer is written as one, except in what this protocol only carries.
  if (reading.loose.some((path) => !/^op\.(grant|receipt)\./.test(path))) return 'malformed'
  return judgeBody(name, reading.value, policy)
}

describe('a body', () => {
  it('with parts dropped, added, repeated, retyped or at a bound earns the code that the page gives it', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.array(valueEdit, { minLength: 1, maxLength: 3 }),
        fc.constantFrom<Policy>('production', 'loopback_test'),
        (from, edits, policy) => {
          const { name, body } = bodies[from % bodies.length] ?? expect.fail()
          const bytes = encoder.encode(editedText(body, edits))
          expect(codeOf(name, bytes, policy)).toBe(expected(name, bytes, policy))
          cases.ran()
        },
      ),
      { numRuns: fuzzRuns(1_000) },
    )
  })

  it('with damaged bytes earns the same', () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(byteEdit, { minLength: 1, maxLength: 2 }), (from, edits) => {
        const { name, text } = bodies[from % bodies.length] ?? expect.fail()
        const bytes = editedBytes(text, edits, texts)
        expect(codeOf(name, bytes, 'production')).toBe(expected(name, bytes, 'production'))
        cases.ran()
      }),
      { numRuns: fuzzRuns(300) },
    )
  })
})
