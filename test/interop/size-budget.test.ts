import { Keys, loadWasmAsync, nip44Decrypt, PublicKey } from '@rust-nostr/nostr-sdk'
import { v2 as nip44 } from 'nostr-tools/nip44'
import { beforeAll, describe, expect, it } from 'vitest'
import { sealReply } from '../../src/bridge/seal.ts'
import { signRequest } from '../../src/device/request.ts'
import { answerBytesMax, eventBytesMax, plaintextBytesMax } from '../../src/limits.ts'
import type { HostRequest } from '../../src/protocol/bodies/request.ts'
import { createConversationKeys } from '../../src/protocol/conversation-keys.ts'
import { eventJson, type NostrEvent } from '../../src/protocol/event.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'
import { bodyOfPlaintext, plaintextOf, sealedBy } from '../support/sized-bodies.ts'

const host = testKey(11)
const phone = testKey(13)

/** NIP-44 pads to steps: the longest text whose event stays within 48 KiB. */
const textBytesMax = 32_768

beforeAll(() => loadWasmAsync())

/** What two other libraries decrypt, which must be the same. */
function readElsewhere(event: NostrEvent, secret: string, peer: string): string {
  const rust = nip44Decrypt(Keys.parse(secret).secretKey, PublicKey.parse(peer), event.content)
  const key = nip44.utils.getConversationKey(Buffer.from(secret, 'hex'), peer)
  expect(nip44.decrypt(event.content, key)).toBe(rust)
  return rust
}

describe('a library of the old limit', () => {
  it('cannot read a text of 64 KiB, which is why nothing near it is ever sealed', () => {
    const key = phone.with(host.publicKey)
    const decrypt = (bytes: number) => {
      const payload = nip44.encrypt('x'.repeat(bytes), key)
      return nip44Decrypt(Keys.parse(host.secret).secretKey, PublicKey.parse(phone.publicKey), payload)
    }
    expect(decrypt(65_535)).toHaveLength(65_535)
    expect(() => decrypt(65_536)).toThrow()
  })
})

describe('a sealed body', () => {
  const seal = (bytes: number) => {
    const body = bodyOfPlaintext(bytes, 'x')
    return { body, event: sealedBy(phone, host.publicKey, body, 'ab'.repeat(32)) }
  }

  it.each([plaintextBytesMax - 1, plaintextBytesMax])('of %i bytes is read by other libraries', (bytes) => {
    const { body, event } = seal(bytes)
    expect(readElsewhere(event, host.secret, phone.publicKey)).toBe(plaintextOf(body))
  })

  it('of one byte more is refused before it is encrypted, with the numbers', async () => {
    const refusal = await refused('bounds', () => seal(plaintextBytesMax + 1))
    expect(refusal.message).toContain(String(plaintextBytesMax + 1))
    expect(refusal.message).toContain(String(plaintextBytesMax))
  })
})

describe('a request', () => {
  const identity = { signer: phone.signer, keys: createConversationKeys(phone.secret, 8) }
  const sign = (bytes: number) => {
    const {
      host: to,
      relay,
      request,
      op,
      grant,
      epoch,
      issued_at,
    } = bodyOfPlaintext(bytes, 'é') as unknown as HostRequest
    return signRequest({
      identity,
      to: { host: to, relay, grant: grant === null || epoch === null ? null : { grant, epoch } },
      op,
      request,
      now: issued_at,
      policy: 'production',
      random: systemRandom,
    })
  }

  it.each([textBytesMax - 1, textBytesMax])(
    'of %i bytes of text is signed, and read by other libraries',
    (bytes) => {
      const { body, event } = sign(bytes)
      const text = readElsewhere(event, host.secret, phone.publicKey)
      expect(Buffer.byteLength(text)).toBe(bytes)
      expect(JSON.parse(text).inline).toEqual(body)
      expect(eventJson(event).length).toBeLessThanOrEqual(eventBytesMax)
    },
  )

  it('of one byte more is refused before it is signed, with the numbers of its event', async () => {
    const refusal = await refused('bounds', () => sign(textBytesMax + 1))
    expect(refusal.message).toMatch(new RegExp(`of \\d{5} bytes is over ${eventBytesMax}`))
  })
})

describe('a reply', () => {
  const sealer = { signer: host.signer, random: systemRandom, keyOf: host.with }
  const now = 1_795_000_000
  const answered = { request: 'ab'.repeat(32), request_event: 'cd'.repeat(32), signer: phone.publicKey }
  const seal = (textBytes: number) => {
    const items = [
      { command: 'ef'.repeat(32), device: phone.publicKey, text: 'x'.repeat(textBytes), priority: false },
    ]
    const queue = { task: '12'.repeat(32), revision: 1, lease: null, items }
    const outcome = { kind: 'queue', queue } as const
    const event = sealReply(
      sealer,
      { ...answered, expires_at: now + 60 },
      { status: 'ok', outcome },
      now,
      eventBytesMax,
    )
    return { event, outcome }
  }
  const textOf = (event: NostrEvent) => readElsewhere(event, phone.secret, host.publicKey)

  it('whose outcome takes the whole budget is signed, and read by other libraries', () => {
    const frame = JSON.stringify(seal(0).outcome).length
    for (const bytes of [answerBytesMax - 1, answerBytesMax]) {
      const { event, outcome } = seal(bytes - frame)
      expect(JSON.stringify(outcome)).toHaveLength(bytes)
      expect(JSON.parse(textOf(event)).inline.result.outcome).toEqual(outcome)
      expect(eventJson(event).length).toBeLessThanOrEqual(eventBytesMax)
    }
  })

  it('is read up to the last byte that fits its event; one more is refused, with the numbers', async () => {
    const start = 30_000
    const fits = start + textBytesMax - Buffer.byteLength(textOf(seal(start).event))
    for (const bytes of [fits - 1, fits]) {
      const { event, outcome } = seal(bytes)
      expect(JSON.parse(textOf(event)).inline.result.outcome).toEqual(outcome)
      expect(eventJson(event).length).toBeLessThanOrEqual(eventBytesMax)
    }
    const refusal = await refused('bounds', () => seal(fits + 1))
    expect(refusal.message).toContain(String(eventBytesMax))
  })
})
