import fc from 'fast-check'
import * as reference from 'nostr-tools/pure'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkEventBytes, eventJson, type NostrEvent, parseEvent } from '../../src/protocol/event.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { refused } from '../support/refusals.ts'

const secret = `${'0'.repeat(62)}2a`
const template = {
  kind: 3188,
  created_at: 1_795_000_000,
  tags: [['p', 'x'], ['h'], []],
  content: 'héllo\n"\u2028\u{1f600}',
}

/** Each test gets the module anew, with the pure implementation until it loads the fast one. */
let signing: typeof import('../../src/protocol/signer.ts')
beforeEach(async () => {
  vi.resetModules()
  signing = await import('../../src/protocol/signer.ts')
})
afterEach(() => {
  vi.doUnmock('nostr-wasm')
})

describe.each(['pure', 'fast'])('signing, %s', (implementation) => {
  beforeEach(async () => {
    if (implementation === 'fast') await signing.loadFastCrypto()
  })

  it('gives events that nostr-tools verifies, with the id that it computes', () => {
    const event = signing.createSigner(secret).sign(template)
    expect(reference.verifyEvent({ ...event })).toBe(true)
    expect(event.id).toBe(reference.getEventHash(event))
    expect(event.pubkey).toBe(signing.createSigner(secret).publicKey)
    expect(Reflect.ownKeys(event).sort()).toEqual([
      'content',
      'created_at',
      'id',
      'kind',
      'pubkey',
      'sig',
      'tags',
    ])
  })

  it('leaves its template alone, and what it signed does not change with it', () => {
    const tags = [['p', 'x']]
    const event = signing.createSigner(secret).sign({ ...template, tags })
    tags[0]?.push('later')
    expect(event.tags).toEqual([['p', 'x']])
    expect(signing.verifyEvent(event)).toBe(true)
  })

  it('verifies what nostr-tools signs, for any text', () => {
    const bytes = Uint8Array.from(Buffer.from(secret, 'hex'))
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.array(fc.array(fc.string({ unit: 'grapheme' }))),
        (content, tags) => {
          const event = reference.finalizeEvent({ ...template, content, tags }, bytes)
          expect(signing.verifyEvent(event)).toBe(true)
        },
      ),
      { numRuns: fuzzRuns(15) },
    )
  })

  it.each([
    ['a megabyte of content', { content: 'x'.repeat(1_048_576) }],
    ['content that is all escapes', { content: '\u0001'.repeat(131_000) }],
    ['a megabyte of tags', { tags: Array.from({ length: 2_000 }, () => ['p', 'x'.repeat(500)]) }],
    ['very many parts in its tags', { tags: [Array.from({ length: 300_000 }, () => '')] }],
  ])('signs and verifies an event with %s', (_name, changes) => {
    const event = signing.createSigner(secret).sign({ ...template, ...changes })
    expect(signing.verifyEvent(event)).toBe(true)
    expect(signing.verifyEvent({ ...event, kind: 1 })).toBe(false)
  })

  it('refuses an event of which any field was changed, also when it was verified before', () => {
    const event = signing.createSigner(secret).sign(template)
    expect(signing.verifyEvent(event)).toBe(true)
    for (const changes of changesOf(event)) {
      expect(signing.verifyEvent({ ...event, ...changes }), JSON.stringify(changes)).toBe(false)
    }
    const changed: NostrEvent = event
    changed.content = 'other'
    expect(signing.verifyEvent(changed)).toBe(false)
  })

  it('refuses shapes that the implementations let pass', () => {
    const event = signing.createSigner(secret).sign(template)
    const shapes: unknown[] = [
      { ...event, sig: `${event.sig}00` },
      { ...event, sig: event.sig.toUpperCase() },
      { ...event, id: event.id.toUpperCase() },
      { ...event, kind: '3188' },
      { ...event, created_at: '1795000000' },
      { ...event, extra: 1 },
      { ...event, tags: [['p', 1]] },
      null,
      [],
    ]
    for (const shape of shapes) expect(signing.verifyEvent(shape as NostrEvent)).toBe(false)
  })

  it('refuses a key that is no point of the curve', () => {
    const event = signing.createSigner(secret).sign(template)
    expect(signing.verifyEvent({ ...event, pubkey: 'f'.repeat(64) })).toBe(false)
    expect(signing.verifyEvent(event)).toBe(true)
  })
})

describe('the fast implementation', () => {
  it('gives the same ids as the pure one', async () => {
    const signer = signing.createSigner(secret)
    const slow = signer.sign(template)
    await signing.loadFastCrypto()
    const fast = signer.sign(template)
    expect(fast.id).toBe(slow.id)
    expect(signing.verifyEvent(slow) && signing.verifyEvent(fast)).toBe(true)
  })

  it('is loaded once, and where it cannot be the pure one stays', async () => {
    const initNostrWasm = vi.fn(() => Promise.reject(new Error('no WebAssembly here')))
    vi.doMock('nostr-wasm', () => ({ initNostrWasm }))
    await Promise.all([signing.loadFastCrypto(), signing.loadFastCrypto()])
    await signing.loadFastCrypto()
    expect(initNostrWasm).toHaveBeenCalledTimes(1)
    expect(signing.verifyEvent(signing.createSigner(secret).sign(template))).toBe(true)
  })
})

describe('an event', () => {
  const event = (): NostrEvent => signing.createSigner(secret).sign(template)

  it('is read into a fresh object of its seven fields', () => {
    const read = parseEvent(event())
    expect(Object.keys(read)).toHaveLength(7)
    expect(JSON.parse(eventJson(read))).toEqual(read)
  })

  it.each([
    ['id', { id: 'ab' }],
    ['pubkey', { pubkey: 7 }],
    ['created_at', { created_at: -1 }],
    ['created_at', { created_at: 1.5 }],
    ['kind', { kind: 65_536 }],
    ['tags', { tags: {} }],
    ['tags.0.0', { tags: [[null]] }],
    ['content', { content: null }],
    ['sig', { sig: '0'.repeat(127) }],
    ['relay', { relay: 'x' }],
  ])('is malformed with a bad %s', async (field, changes) => {
    const refusal = await refused('malformed', () => parseEvent({ ...event(), ...changes }))
    expect(refusal.field).toBe(field)
  })

  it('is over its bound by bytes, not characters', async () => {
    const bytes = Buffer.byteLength(eventJson(event()))
    expect(() => checkEventBytes(event(), bytes)).not.toThrow()
    const refusal = await refused('bounds', () => checkEventBytes(event(), bytes - 1))
    expect(refusal.message).toContain(String(bytes))
  })
})

function changesOf(event: NostrEvent): Partial<NostrEvent>[] {
  return [
    { content: `${event.content} ` },
    { created_at: event.created_at + 1 },
    { kind: event.kind + 1 },
    { tags: [] },
    { id: event.id.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
    { sig: event.sig.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) },
    { pubkey: '774ae7f858a9411e5ef4246b70c65aac5649980be5c17891bbec17895da008cb' },
  ]
}
