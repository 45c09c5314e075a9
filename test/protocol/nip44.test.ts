import fc from 'fast-check'
import * as reference from 'nostr-tools/nip44'
import { describe, expect, it } from 'vitest'
import { fromBase64, toBase64 } from '../../src/protocol/base64.ts'
import { createConversationKeys } from '../../src/protocol/conversation-keys.ts'
import { fromHex, toHex } from '../../src/protocol/hex.ts'
import { publicKeyOf } from '../../src/protocol/keys.ts'
import { conversationKey, decryptToBytes, encrypt, payloadChars } from '../../src/protocol/nip44.ts'
import { refused } from '../support/refusals.ts'

const alice = '1'.padStart(64, '0')
const bob = '2'.padStart(64, '0')
const key = conversationKey(alice, publicKeyOf(bob))
const nonce = new Uint8Array(32).fill(7)
const decrypt = (payload: string, contentBytesMax = 1_000_000) =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(decryptToBytes(payload, key, { contentBytesMax }))

describe('NIP-44', () => {
  it('gives the published conversation key and payload of the keys 1 and 2', () => {
    expect(toHex(key)).toBe('c41c775356fd92eadc63ff5a0dc1da211b268cbea22316767095b2871ea1412d')
    const one = fromHex('1'.padStart(64, '0'))
    expect(encrypt('a', key, one)).toBe(
      'AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABee0G5VSK0/9YypIObAtDKfYEAjD35uVkHyB0F4DwrcNaCXlCWZKaArsGrY6M9wnuTMxWfp1RTN9Xga8no+kF5Vsb',
    )
  })

  it('gives both ends the same conversation key', () => {
    expect(toHex(conversationKey(bob, publicKeyOf(alice)))).toBe(toHex(key))
  })

  it('refuses a peer that is no point of the curve, and a secret out of range', async () => {
    await refused('malformed', () => conversationKey(alice, 'f'.repeat(64)))
    await refused('malformed', () => conversationKey('0'.repeat(64), publicKeyOf(bob)))
  })

  it('reads what nostr-tools writes and writes what nostr-tools reads', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 600 }), (text) => {
        expect(decrypt(reference.encrypt(text, key, nonce))).toBe(text)
        expect(encrypt(text, key, nonce)).toBe(reference.encrypt(text, key, nonce))
      }),
    )
  })

  it.each([1, 31, 32, 33, 256, 257, 1_024, 16_384, 32_768, 49_152, 65_535, 65_536, 100_000])(
    'agrees with nostr-tools at %i bytes and knows the length of the payload',
    (bytes) => {
      const text = 'x'.repeat(bytes)
      const payload = encrypt(text, key, nonce)
      expect(payload).toBe(reference.encrypt(text, key, nonce))
      expect(payload).toHaveLength(payloadChars(bytes))
      expect(decrypt(payload)).toBe(text)
    },
  )

  it('gives the exact bytes, where nostr-tools mends bad UTF-8 and drops a byte order mark', async () => {
    expect(decrypt(encrypt('\ufeffa', key, nonce))).toBe('\ufeffa')
    const bytes = decryptToBytes(encrypt('ab', key, nonce), key, { contentBytesMax: 1_000 })
    expect(bytes).toEqual(Uint8Array.from([0x61, 0x62]))
  })

  it('refuses content over its cap before it decodes anything', async () => {
    const payload = encrypt('hello', key, nonce)
    expect(decrypt(payload, payload.length)).toBe('hello')
    await refused('bounds', () => decrypt(payload, payload.length - 1))
    await refused('bounds', () => decrypt('!'.repeat(1_001), 1_000))
  })

  it('refuses a payload when any byte of it is changed', () => {
    const data = fromBase64(encrypt('attack at dawn', key, nonce))
    for (let index = 0; index < data.length; index += 1) {
      const changed = Uint8Array.from(data)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => decrypt(toBase64(changed)), `byte ${index}`).toThrow('does not decrypt')
    }
  })

  it.each([
    ['nothing', ''],
    ['an unknown version mark', '#'.repeat(200)],
    ['a payload too short', toBase64(new Uint8Array(60).fill(2))],
    ['a payload too short for any padded text', toBase64(new Uint8Array(98).fill(2))],
    ['white space', `${encrypt('a', key, nonce)}\n`],
    ['missing padding', encrypt('a'.repeat(33), key, nonce).replaceAll('=', '')],
    ['another key', encrypt('a', new Uint8Array(32).fill(1), nonce)],
  ])('refuses %s', async (_name, payload) => {
    await refused('malformed', () => decrypt(payload))
  })

  it.each([
    ['a short key', new Uint8Array(31), nonce],
    ['a short nonce', key, new Uint8Array(31)],
  ])('is never used with %s', (_name, otherKey, otherNonce) => {
    expect(() => encrypt('a', otherKey, otherNonce)).toThrow('32 bytes each')
  })

  it('refuses to encrypt nothing', async () => {
    await refused('bounds', () => encrypt('', key, nonce))
  })
})

describe('base64', () => {
  it('round-trips every length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20_000 }), (bytes) => {
        expect(fromBase64(toBase64(bytes))).toEqual(bytes)
        expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
      }),
    )
  })

  it.each(['a', 'ab', 'abc', 'a===', '=abc', 'ab=c', 'ab==ab==', 'QR==', 'QUJ=', 'Q UI', 'QUI-'])(
    'refuses %s',
    async (text) => {
      await refused('malformed', () => fromBase64(text))
    },
  )
})

describe('the conversation keys of a session', () => {
  const peers = [3, 4, 5].map((scalar) => publicKeyOf(String(scalar).padStart(64, '0')))
  const [first = '', second = '', third = ''] = peers

  it('derive each key once while it is kept, and keep only as many as allowed', () => {
    const keys = createConversationKeys(alice, 2)
    const kept = keys.get(first)
    expect(keys.get(first)).toBe(kept)
    expect(toHex(kept)).toBe(toHex(conversationKey(alice, first)))
    keys.get(second)
    keys.get(first)
    keys.get(third)
    expect(keys.size()).toBe(2)
    expect(keys.get(first)).toBe(kept)
  })

  it('forget a peer when told to, and keep nothing of a bad one', async () => {
    const keys = createConversationKeys(alice, 2)
    const kept = keys.get(first)
    keys.drop(first)
    expect(keys.size()).toBe(0)
    expect(keys.get(first)).not.toBe(kept)
    await refused('malformed', () => keys.get('f'.repeat(64)))
    expect(keys.size()).toBe(1)
  })
})
