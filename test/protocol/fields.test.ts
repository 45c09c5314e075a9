import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { liftedKeysMax } from '../../src/limits.ts'
import { sha256Digest, sha256Hex } from '../../src/protocol/digest.ts'
import { fromHex, toHex } from '../../src/protocol/hex.ts'
import { jcs } from '../../src/protocol/jcs.ts'
import {
  digestText,
  hexId,
  isPublicKey,
  newSecretKey,
  shortHexId,
  unixSeconds,
} from '../../src/protocol/keys.ts'
import { nudgeMailbox, presenceMailbox, summaryMailbox } from '../../src/protocol/mailbox.ts'
import { createSigner } from '../../src/protocol/signer.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import {
  isBlank,
  isIdentifier,
  isMessage,
  isSingleLine,
  isStoreText,
  utf8Bytes,
} from '../../src/protocol/text.ts'
import { hostFixtures } from '../support/host-fixtures.ts'
import { refused } from '../support/refusals.ts'

describe('text', () => {
  it.each([
    ['a', 1, true],
    ['é', 1, false],
    ['é', 2, true],
    ['\u{1f600}', 4, true],
    ['', 9, false],
    ['  ', 9, false],
    ['a\nb', 9, false],
    ['a\rb', 9, false],
    ['a\u0000', 9, false],
    ['a\u007f', 9, false],
    ['a\u009f', 9, false],
    ['a\u00a0b', 9, true],
    ['a\u2028b', 9, true],
    ['a\ud800', 9, false],
  ])('%j in %i bytes as a single line: %s', (text, bytes, expected) => {
    expect(isSingleLine(text, bytes)).toBe(expected)
  })

  it.each([
    ['a\nb\u0007', 9, true],
    ['\n\t \u2003\u0085\u3000', 99, false],
    ['', 9, false],
    ['\ufeff', 9, true],
    ['ab', 1, false],
    ['\udc00', 9, false],
  ])('%j in %i bytes as a message: %s', (text, bytes, expected) => {
    expect(isMessage(text, bytes)).toBe(expected)
  })

  it.each([
    ['a\n\r\tb', 'multi', true],
    ['a\u000bb', 'multi', false],
    ['a\u0000b', 'multi', false],
    ['a\u0085b', 'multi', false],
    ['a\nb', 'single', false],
    ['ab', 'single', true],
    [' ', 'multi', false],
  ] as const)('%j as text of the store, %s: %s', (text, lines, expected) => {
    expect(isStoreText(text, 99, lines)).toBe(expected)
  })

  it.each([
    ['a', true],
    ['9.x_y-Z', true],
    ['a'.repeat(128), true],
    ['a'.repeat(129), false],
    ['', false],
    ['.a', false],
    ['-a', false],
    ['a/b', false],
    ['a b', false],
    ['ä', false],
  ])('%s as an identifier: %s', (text, expected) => {
    expect(isIdentifier(text)).toBe(expected)
  })

  it('is measured in UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text))
        expect(isBlank(text) && isMessage(text, 1_000)).toBe(false)
      }),
    )
  })
})

describe('keys and digests', () => {
  it('know points of the curve', () => {
    for (const key of Object.values(hostFixtures.keys)) expect(isPublicKey(key)).toBe(true)
    for (const key of ['0'.repeat(64), 'f'.repeat(64), `${'0'.repeat(63)}5`, '', 'x'.repeat(64)]) {
      expect(isPublicKey(key), key).toBe(false)
    }
    const upper = hostFixtures.keys.host.toUpperCase()
    expect(isPublicKey(upper)).toBe(false)
  })

  it('know them still after more keys than are remembered', () => {
    const points = Array.from({ length: 3 * liftedKeysMax }, (_, x) =>
      x.toString(16).padStart(64, '0'),
    ).filter(isPublicKey)
    expect(points.length).toBeGreaterThan(liftedKeysMax)
    expect(points.every(isPublicKey)).toBe(true)
    expect(isPublicKey(hostFixtures.keys.host)).toBe(true)
  })

  it('draw secret keys until one is in range', () => {
    const draws = [new Uint8Array(32), new Uint8Array(32).fill(0xff), new Uint8Array(32).fill(7)]
    const random = { bytes: () => draws.shift() ?? expect.fail('drew too often') }
    expect(newSecretKey(random)).toBe('07'.repeat(32))
  })

  it.each(['', '0'.repeat(64), 'f'.repeat(64), 'A'.repeat(64), '1'.repeat(63)])(
    'refuses %j as a secret key without showing it',
    async (bad) => {
      const refusal = await refused('malformed', () => createSigner(bad))
      expect(refusal.message).toBe('not a secret key')
    },
  )

  it.each([
    [hexId, 'a'.repeat(64), true],
    [hexId, 'A'.repeat(64), false],
    [hexId, 'a'.repeat(63), false],
    [hexId, `${'a'.repeat(64)}\n`, false],
    [shortHexId, 'a'.repeat(32), true],
    [shortHexId, 'a'.repeat(64), false],
    [digestText, `sha256:${'a'.repeat(64)}`, true],
    [digestText, 'a'.repeat(64), false],
    [digestText, `sha512:${'a'.repeat(64)}`, false],
    [unixSeconds, 0, true],
    [unixSeconds, -1, false],
    [unixSeconds, 1.5, false],
    [unixSeconds, 2 ** 53, false],
  ] as const)('%#: field %j', (schema, value, expected) => {
    expect(schema.safeParse(value).success).toBe(expected)
  })

  it('are the ones that the platform computes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const hex = createHash('sha256').update(text, 'utf8').digest('hex')
        expect(sha256Hex(text)).toBe(hex)
        expect(sha256Digest(Buffer.from(text))).toBe(`sha256:${hex}`)
      }),
    )
  })

  it('travel as lowercase hex only', async () => {
    expect(toHex(fromHex('00ff7a'))).toBe('00ff7a')
    for (const text of ['0', 'AB', 'zz', '0x00', ' 00']) await refused('malformed', () => fromHex(text))
  })
})

describe('canonical JSON', () => {
  it.each([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, 1: 4, '\u{1f600}': 5, '\u0080': 6 },
      '{"\\r":2,"1":4,"\u0080":6,"€":1,"😀":5,"\ufb33":3}',
    ],
    [[1e21, 0.000001, 1e-7, -0, 333333333.3333333, 4.5], '[1e+21,0.000001,1e-7,0,333333333.3333333,4.5]'],
    ['"\\\u0000\u001f\u007f/', '"\\"\\\\\\u0000\\u001f\u007f/"'],
  ])('%#: is as RFC 8785 says', (value, text) => {
    expect(jcs(value)).toBe(text)
  })

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        expect(jcs(Object.fromEntries(Object.entries(object).reverse()))).toBe(jcs(object))
        expect(JSON.parse(jcs(object))).toEqual(JSON.parse(JSON.stringify(object)))
      }),
    )
  })

  it.each([
    [undefined],
    ['\ud800'],
    [{ a: '\udc00' }],
    [{ '\ud800': 1 }],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
  ])('%#: refuses what JSON cannot carry', async (value) => {
    await refused('malformed', () => jcs(value))
  })
})

describe('derived names', () => {
  const key = Uint8Array.from({ length: 32 }, (_, index) => index)
  const hash = (...parts: (string | Uint8Array)[]) => {
    const sum = createHash('sha256')
    for (const part of parts) sum.update(part)
    return sum.digest('hex')
  }

  it('of the three mailboxes hang on the conversation key', () => {
    expect(nudgeMailbox(key)).toBe(hash('openagents.host-mailbox.nudges.v1\0', key))
    expect(presenceMailbox(key)).toBe(hash('openagents.host-mailbox.presence.v1\0', key))
    expect(summaryMailbox(key)).toBe(hash('openagents.host-mailbox.summaries.v1\0', key))
  })

  it('of a created task hang on its device and request', () => {
    const { phone, tablet } = hostFixtures.keys
    const request = '3c'.repeat(32)
    expect(deviceTaskId(phone, request)).toBe(hash(`drawbridge.task.v1\0${phone}:${request}`))
    expect(deviceTaskId(tablet, request)).not.toBe(deviceTaskId(phone, request))
  })
})
