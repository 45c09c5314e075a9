import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EnrollmentRequest } from '../../src/protocol/bodies/enrollment-request.ts'
import { sha256Digest } from '../../src/protocol/digest.ts'
import {
  enrollmentCodeDigest,
  enrollmentDigest,
  isEnrollmentCode,
  newEnrollmentCode,
  normalizedEnrollmentCode,
} from '../../src/protocol/enrollment-code.ts'
import { openVerified, sealEnvelope } from '../../src/protocol/envelope.ts'
import { decryptToBytes } from '../../src/protocol/nip44.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { id, now, relay } from '../support/access.ts'
import { testKey } from '../support/keys.ts'

const bytes = (...values: number[]) => ({ bytes: () => new Uint8Array(values) })

describe('an enrollment code', () => {
  const shown: [number[], string][] = [
    [[0, 0, 0, 0, 0], '0000-0000'],
    [[255, 255, 255, 255, 255], 'ZZZZ-ZZZZ'],
    [[0, 0, 0, 0, 1], '0000-0001'],
    [[0b00001_000, 0b10_00011_0, 0b0100_0010, 0b1_00110_00, 0b111_01000], '1234-5678'],
    [[0x95, 0x4f, 0xb1, 0x6c, 0x2e], 'JN7V-2V1E'],
  ]
  for (const [random, code] of shown) {
    it(`is eight characters of five bits, in two groups: ${code}`, () => {
      expect(newEnrollmentCode(bytes(...random))).toBe(code)
    })
  }

  it('takes five bytes, and has none of I, L, O and U', () => {
    const asked: number[] = []
    newEnrollmentCode({
      bytes(count) {
        asked.push(count)
        return new Uint8Array(count)
      },
    })
    expect(asked).toEqual([5])
    const all = Array.from({ length: 2_000 }, () => newEnrollmentCode(systemRandom)).join('')
    expect(all).toMatch(/^[0-9A-HJKMNP-TV-Z-]+$/)
  })

  const typed: [string, string, boolean][] = [
    ['JN7V-2V1E', 'JN7V2V1E', true],
    ['jn7v2v1e', 'JN7V2V1E', true],
    [' jn7v - 2vle ', 'JN7V2V1E', true],
    ['JN7V 2ViE', 'JN7V2V1E', true],
    ['oO0O-IiLl', '00001111', true],
    ['JN7V-2V1', 'JN7V2V1', false],
    ['JN7V-2V1EE', 'JN7V2V1EE', false],
    ['JN7V-2V1U', 'JN7V2V1U', false],
    ['JN7V_2V1E', 'JN7V_2V1E', false],
    ['JN7V-2Vı1', 'JN7V2Vı1', false],
    ['', '', false],
  ]
  for (const [text, compared, isOne] of typed) {
    it(`typed as "${text}" is compared as ${compared}, and is ${isOne ? 'one' : 'none'}`, () => {
      expect(normalizedEnrollmentCode(text)).toBe(compared)
      expect(isEnrollmentCode(text)).toBe(isOne)
    })
  }

  it('is found again however it is typed, and no other one is', () => {
    const code = fc
      .uint8Array({ minLength: 5, maxLength: 5 })
      .map((five) => newEnrollmentCode(bytes(...five)))
    const slips = fc.array(fc.constantFrom('lower', 'dash', 'space', 'O', 'I', 'l'), { maxLength: 4 })
    fc.assert(
      fc.property(code, code, slips, (one, other, wrongs) => {
        const slipped = wrongs.reduce((text, slip) => slipping[slip]?.(text) ?? text, one)
        expect(enrollmentCodeDigest(id(1), slipped)).toBe(enrollmentCodeDigest(id(1), one))
        expect(enrollmentCodeDigest(id(1), one) === enrollmentCodeDigest(id(1), other)).toBe(one === other)
      }),
    )
  })

  it('is kept as the digest that the page names, bound to its enrollment', () => {
    expect(enrollmentCodeDigest(id(1), 'jn7v-2v1e')).toBe(
      sha256Digest(`openagents.host-enrollment-code.v1:${id(1)}:JN7V2V1E`),
    )
    expect(enrollmentCodeDigest(id(2), 'jn7v-2v1e')).not.toBe(enrollmentCodeDigest(id(1), 'jn7v-2v1e'))
  })
})

describe('the digest that names an enrollment request', () => {
  it('is the artifact digest of its sealed copy', () => {
    const [host, owner] = [testKey(11), testKey(12)]
    const body: EnrollmentRequest = {
      v: 'openagents.host-enrollment-request.v1',
      requires: [],
      enrollment: id(1),
      host: host.publicKey,
      owner: owner.publicKey,
      relay,
      rights: ['observe'],
      issued_at: now,
      expires_at: now + 300,
    }
    const event = sealEnvelope({
      signer: host.signer,
      recipient: owner.publicKey,
      mailbox: id(1),
      body,
      conversationKey: host.with(owner.publicKey),
      issuedAt: now,
      retainUntil: now + 300,
      random: systemRandom,
    })
    const plaintext = decryptToBytes(event.content, owner.with(host.publicKey), { contentBytesMax: 4_096 })
    const envelope = JSON.parse(new TextDecoder().decode(plaintext))
    expect(enrollmentDigest(body)).toBe(envelope.artifact.digest)
    const { body: opened } = openVerified(event, owner.publicKey, owner.with)
    expect(enrollmentDigest(opened as EnrollmentRequest)).toBe(envelope.artifact.digest)
  })
})

const slipping: Record<string, (text: string) => string> = {
  lower: (text) => text.toLowerCase(),
  dash: (text) => text.replaceAll('-', ''),
  space: (text) => ` ${text.split('').join(' ')}`,
  O: (text) => text.replaceAll('0', 'o'),
  I: (text) => text.replaceAll('1', 'I'),
  l: (text) => text.replaceAll('1', 'l'),
}
