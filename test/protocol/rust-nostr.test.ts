import {
  Event,
  EventBuilder,
  Keys,
  Kind,
  loadWasmAsync,
  NIP44Version,
  nip44Decrypt,
  nip44Encrypt,
  PublicKey,
  Tag,
  Timestamp,
} from '@rust-nostr/nostr-sdk'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventBytesMax, plaintextBytesMax } from '../../src/limits.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified } from '../../src/protocol/envelope.ts'
import { eventJson, type NostrEvent, parseEvent } from '../../src/protocol/event.ts'
import type { JsonObject } from '../../src/protocol/json-value.ts'
import { conversationKey, decryptToBytes, encrypt } from '../../src/protocol/nip44.ts'
import { loadFastCrypto, verifyEvent } from '../../src/protocol/signer.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { bodyNameOf, hostFixtures, hostSecrets, validBody } from '../support/host-fixtures.ts'
import { testKey } from '../support/keys.ts'
import { bodyOfPlaintext, plaintextOf, sealedBy, timesOf } from '../support/sized-bodies.ts'

const host = testKey(11)
const phone = testKey(13)
const mailbox = '3c'.repeat(32)

beforeAll(async () => {
  await Promise.all([loadWasmAsync(), loadFastCrypto()])
})

/** What another implementation reads in an event that two keys share. */
function readElsewhere(event: NostrEvent, secret: string, peer: string): Record<string, unknown> {
  const read = Event.fromJson(eventJson(event))
  expect(read.verify()).toBe(true)
  return JSON.parse(nip44Decrypt(Keys.parse(secret).secretKey, PublicKey.parse(peer), read.content))
}

/** The event that another implementation makes of the same body. */
function madeElsewhere(body: JsonObject, secret: string, peer: string): NostrEvent {
  const keys = Keys.parse(secret)
  const text = plaintextOf(body)
  const content = nip44Encrypt(keys.secretKey, PublicKey.parse(peer), text, NIP44Version.V2)
  const made = new EventBuilder(new Kind(3188), content)
    .tags([Tag.parse(['p', peer]), Tag.parse(['h', mailbox]), Tag.parse(['t', 'oa:artifact:v1'])])
    .customCreatedAt(Timestamp.fromSecs(timesOf(body).issuedAt))
    .signWithKeys(keys)
  return parseEvent(JSON.parse(made.asJson()))
}

/** Sealed here and read there, made there and opened here, by phone and host in turn. */
function crossesBothWays(body: JsonObject): void {
  for (const [from, to] of [
    [phone, host],
    [host, phone],
  ] as const) {
    const ours = sealedBy(from, to.publicKey, body, mailbox)
    expect(readElsewhere(ours, to.secret, from.publicKey)['inline']).toEqual(body)
    const theirs = madeElsewhere(body, from.secret, to.publicKey)
    expect(verifyEvent(theirs)).toBe(true)
    const opened = openVerified(theirs, to.publicKey, to.with)
    expect(opened).toMatchObject({ author: from.publicKey, recipient: to.publicKey, mailbox })
    expect(opened.body).toEqual(body)
  }
}

describe('rust-nostr', () => {
  it.each(hostFixtures.events)('verifies and decrypts the fixture "$name"', ({ event, opens_to }) => {
    const peer = event.pubkey === host.publicKey ? phone.publicKey : event.pubkey
    expect(readElsewhere(event, hostSecrets.host, peer)['inline']).toEqual(hostFixtures.valid[opens_to])
  })

  it('is tried with every kind of body that is sealed', () => {
    const kinds = Object.values(hostFixtures.valid).map(bodyNameOf)
    const sealed = ['enrollment', 'grant', 'nudge', 'presence', 'reply', 'request', 'summary']
    expect([...new Set(kinds)].sort()).toEqual(sealed)
  })

  it.each(Object.keys(hostFixtures.valid))('shares the body "%s" with us, both ways', (name) => {
    const body = validBody(name)
    crossesBothWays(body)
    const theirs = madeElsewhere(body, hostSecrets.phone, host.publicKey)
    expect(
      parseBody(bodyNameOf(body), openVerified(theirs, host.publicKey, host.with).body, 'production'),
    ).toEqual(body)
  })

  it.each([
    ['the least', 0, 'a'],
    ['as much as an event of 48 KiB holds', 32_768, 'a'],
    ['the same, of two bytes a letter', 32_768, 'é'],
    ['one byte more', 32_769, 'a'],
    ['the longest that we ever seal, less one', plaintextBytesMax - 1, '你'],
    ['the longest that we ever seal', plaintextBytesMax, '🌍'],
  ])('shares %s with us, both ways', (_name, bytes, letter) => {
    const body = bodyOfPlaintext(bytes, letter)
    if (bytes > 0) expect(Buffer.byteLength(plaintextOf(body))).toBe(bytes)
    crossesBothWays(body)
    const event = sealedBy(phone, host.publicKey, body, mailbox)
    expect(eventJson(event).length <= eventBytesMax).toBe(bytes <= 32_768)
  })

  it('shares bodies of any length and any letters with us, both ways', () => {
    const letters = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
      fc.constantFrom('\u2028', '"', '\\', '\u0000', '\ufeff', '\u007f', 'e\u0301', '👩‍👩‍👧‍👦'),
    )
    const sizes = fc.oneof(
      fc.integer({ min: 1_000, max: 4_000 }),
      fc.integer({ min: 1_000, max: plaintextBytesMax }),
    )
    fc.assert(
      fc.property(letters, sizes, (letter, bytes) => crossesBothWays(bodyOfPlaintext(bytes, letter))),
      { numRuns: fuzzRuns(60) },
    )
  })

  it('encrypts and decrypts texts of any length as we do', () => {
    const keys = Keys.parse(phone.secret)
    const peer = PublicKey.parse(host.publicKey)
    const key = conversationKey(phone.secret, host.publicKey)
    const edges = [
      1,
      2,
      31,
      32,
      33,
      64,
      65,
      256,
      257,
      1_024,
      1_025,
      32_768,
      32_769,
      49_151,
      plaintextBytesMax,
    ]
    const sizes = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 1, max: plaintextBytesMax }))
    const letters = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(letters, sizes, (letter, bytes) => {
        const text = repeated(letter, bytes)
        expect(nip44Decrypt(keys.secretKey, peer, encrypt(text, key, systemRandom.bytes(32)))).toBe(text)
        const theirs = nip44Encrypt(keys.secretKey, peer, text, NIP44Version.V2)
        const read = decryptToBytes(theirs, key, { contentBytesMax: 100_000 })
        expect(Buffer.from(read).equals(Buffer.from(text))).toBe(true)
      }),
      { numRuns: fuzzRuns(100) },
    )
  })
})

/** `letter` again and again, and letters of one byte up to exactly `bytes`. */
function repeated(letter: string, bytes: number): string {
  const times = Math.floor(bytes / Buffer.byteLength(letter))
  return letter.repeat(times) + 'x'.repeat(bytes - times * Buffer.byteLength(letter))
}
