import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBody } from '../../src/protocol/body.ts'
import { openEnvelope } from '../../src/protocol/envelope.ts'
import { encodeInvitation, parseInvitation } from '../../src/protocol/invitation.ts'
import { jcs } from '../../src/protocol/jcs.ts'
import type { JsonObject, JsonValue } from '../../src/protocol/json-value.ts'
import { encrypt } from '../../src/protocol/nip44.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import { parseClientFrame, parseRelayFrame } from '../../src/protocol/relay-frames.ts'
import { parseRequest } from '../../src/protocol/request-parts.ts'
import { parseStrictJson } from '../../src/protocol/strict-json.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { bodyNameOf, hostFixtures, validBody } from '../support/host-fixtures.ts'
import { testKey } from '../support/keys.ts'

const host = testKey(11)
const key = host.with(hostFixtures.keys.phone)
const fixtures = fc.constantFrom(...Object.keys(hostFixtures.valid))
const codes = new Set(['malformed', 'unsupported', 'forbidden', 'bounds'])

/** Runs what reads a peer's bytes: it may refuse with a wire code, and nothing else. */
function orRefused<T>(action: () => T): T | null {
  try {
    return action()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    expect(codes.has(error.code)).toBe(true)
    return null
  }
}

/** Puts `value` in place of one of the values in `body`, the `at`th of them. */
function replaced(body: JsonValue, at: { left: number }, value: JsonValue): JsonValue {
  at.left -= 1
  if (at.left < 0) {
    at.left = Number.POSITIVE_INFINITY
    return value
  }
  if (typeof body !== 'object' || body === null) return body
  if (Array.isArray(body)) return body.map((item) => replaced(item, at, value))
  return Object.fromEntries(Object.entries(body).map(([name, item]) => [name, replaced(item, at, value)]))
}

const junk = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<JsonValue>('', ' ', 'a'.repeat(64), 'ws://x/', -0, 1e21, 2 ** 53, null, [], {}),
  fc.string({ unit: 'grapheme', minLength: 100, maxLength: 300 }),
) as fc.Arbitrary<JsonValue>

describe('whatever a peer sends', () => {
  it('a body with any of its values replaced is read as it is, or refused with a wire code', () => {
    fc.assert(
      fc.property(fixtures, fc.nat(40), junk, (fixture, at, value) => {
        const body = replaced(validBody(fixture), { left: at }, value)
        const name = bodyNameOf(validBody(fixture))
        const read = orRefused(() => parseBody(name, body, 'production'))
        if (read !== null) expect(jcs(read)).toBe(jcs(body))
      }),
      { numRuns: fuzzRuns(2_000) },
    )
  })

  it('a request with any of its values replaced is whole, answerable, or refused', () => {
    fc.assert(
      fc.property(fixtures, fc.nat(40), junk, (fixture, at, value) => {
        const body = replaced(validBody(fixture), { left: at }, value)
        const reading = orRefused(() => parseRequest(body, 'production'))
        if (reading?.ok === false) expect(reading.head).not.toHaveProperty('op')
        if (reading?.ok === true) expect(jcs(reading.request)).toBe(jcs(body))
      }),
      { numRuns: fuzzRuns(1_000) },
    )
  })

  it('bytes are strict JSON or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const read = orRefused(() => parseStrictJson(bytes, { bytesMax: 150 }))
        if (read !== null) expect(read.value).toEqual(JSON.parse(Buffer.from(bytes).toString('utf8')))
      }),
      { numRuns: fuzzRuns(2_000) },
    )
  })

  it('a plaintext in a genuine event is an envelope or refused', () => {
    const event = hostFixtures.events[0]?.event ?? expect.fail('no event')
    const random = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(
        fc.oneof(fc.json(), fc.string({ unit: 'grapheme', minLength: 1 })),
        random,
        (text, nonce) => {
          expect(
            orRefused(() => openEnvelope({ ...event, content: encrypt(text, key, nonce) }, key)),
          ).toBeNull()
        },
      ),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 400 }), (content) => {
        expect(orRefused(() => openEnvelope({ ...event, content }, key))).toBeNull()
      }),
    )
  })

  it('a text is an invitation or refused', () => {
    const { code } = hostFixtures.invitation
    fc.assert(
      fc.property(fc.nat(code.length), fc.string({ maxLength: 3 }), fc.nat(3), (at, insert, cut) => {
        const text = code.slice(0, at) + insert + code.slice(at + cut)
        const read = orRefused(() => parseInvitation(text, 'production'))
        if (read !== null) expect(encodeInvitation(read)).toBe(text)
      }),
      { numRuns: fuzzRuns(1_000) },
    )
  })

  it('a frame is one of the protocol or nothing', () => {
    const parts = fc.array(
      fc.oneof(fc.constantFrom('EVENT', 'REQ', 'OK', 'CLOSE', 'AUTH', 's'), fc.jsonValue()),
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          parts.map((list) => JSON.stringify(list)),
        ),
        (text) => {
          const frames = [parseClientFrame(text), parseRelayFrame(text)]
          for (const frame of frames) if (frame !== null) expect(JSON.parse(text)[0]).toBe(frame.type)
        },
      ),
      { numRuns: fuzzRuns(1_000) },
    )
  })
})

it('replaces the value that it is told to', () => {
  const body: JsonObject = { a: 1, b: [2, 3] }
  expect(replaced(body, { left: 0 }, 9)).toBe(9)
  expect(replaced(body, { left: 1 }, 9)).toEqual({ a: 9, b: [2, 3] })
  expect(replaced(body, { left: 4 }, 9)).toEqual({ a: 1, b: [2, 9] })
})
