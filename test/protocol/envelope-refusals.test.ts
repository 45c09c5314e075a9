import { describe, expect, it } from 'vitest'
import { bodyBytesMax, envelopeContentBytesMax } from '../../src/limits.ts'
import { sha256Digest } from '../../src/protocol/digest.ts'
import { openEnvelope, openVerified } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { jcs } from '../../src/protocol/jcs.ts'
import type { JsonObject } from '../../src/protocol/json-value.ts'
import { encrypt } from '../../src/protocol/nip44.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { requestWith, validBody } from '../support/host-fixtures.ts'
import { testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'

const host = testKey(11)
const phone = testKey(13)
const tablet = testKey(14)
const key = phone.with(host.publicKey)
const mailbox = '3c'.repeat(32)
const now = 1_795_000_000
const request = validBody('request_command_send')
const opened = (event: NostrEvent) => openVerified(event, host.publicKey, host.with)

describe('an envelope is ignored', () => {
  const three = [
    ['p', host.publicKey],
    ['h', mailbox],
    ['t', 'oa:artifact:v1'],
  ]
  const good = JSON.stringify(envelopeOf(request))

  it('only for a reason: the helper makes one that opens', () => {
    expect(opened(around(good)).body).toEqual(request)
    expect(opened(around(JSON.stringify(envelopeOf(request), null, 2))).body).toEqual(request)
    expect(opened(around(good, { tags: three.toReversed() })).mailbox).toBe(mailbox)
  })

  it.each([
    ['another kind', { kind: 3189 }],
    ['no tags', { tags: [] }],
    ['a fourth tag', { tags: [...three, ['e', mailbox]] }],
    ['a second recipient', { tags: [...three, ['p', phone.publicKey]] }],
    ['a repeated tag in place of another', { tags: three.with(2, ['p', host.publicKey]) }],
    ['a recipient that is no key', { tags: three.with(0, ['p', 'f'.repeat(64)]) }],
    ['a recipient with a relay hint', { tags: three.with(0, ['p', host.publicKey, 'wss://r.example/']) }],
    ['a short mailbox', { tags: three.with(1, ['h', '3c']) }],
    ['an upper-case mailbox', { tags: three.with(1, ['h', '3C'.repeat(32)]) }],
    ['another mark', { tags: three.with(2, ['t', 'oa:artifact:v2']) }],
    ['another date than its envelope', { created_at: now + 1 }],
  ])('with %s', async (_name, changes) => {
    await refused('malformed', () => opened(around(good, changes)))
  })

  it.each([
    ['another digest', envelopeOf(request, {}, { digest: sha256Digest('x') })],
    ['another size', envelopeOf(request, {}, { size: 1 })],
    ['a size over the bound of bodies', envelopeOf(request, {}, { size: bodyBytesMax + 1 })],
    ['another media type', envelopeOf(request, {}, { media_type: 'text/plain' })],
    ['another schema than its body', envelopeOf(request, {}, { schema: 'openagents.host-reply.v1' })],
    ['no schema in its body', envelopeOf({ requires: [] })],
    ['an issue time that is not its body’s', envelopeOf({ ...request, issued_at: now - 1 })],
    ['an expiry that is not its body’s', envelopeOf(request, { retain_until: now + 59 })],
    ['an unknown field', envelopeOf(request, { more: 1 })],
    ['a body that is a list', envelopeOf(request, { inline: [] })],
    ['no body', envelopeOf(request, { inline: null })],
  ])('with %s', async (_name, envelope) => {
    await refused('malformed', () => opened(around(JSON.stringify(envelope))))
  })

  it.each([
    ['another version', envelopeOf(request, { v: 'openagents.artifact-envelope.v2' }), 'unsupported'],
    ['a requirement', envelopeOf(request, { requires: ['x'] }), 'unsupported'],
  ] as const)('as unsupported with %s', async (_name, envelope, code) => {
    await refused(code, () => opened(around(JSON.stringify(envelope))))
  })

  it('with a plaintext that is not strict JSON', async () => {
    await refused('malformed', () => opened(around(good.replace('{', '{"v":1,'))))
    await refused('malformed', () => opened(around(`${good} x`)))
    await refused('malformed', () => opened(around('hello')))
    await refused('malformed', () => opened(around(good.replace('"epoch":2', '"epoch":2.0'))))
    await refused('malformed', () =>
      opened(around(good.replace(`"retain_until":${now + 60}`, '"retain_until":1795000060.0'))),
    )
  })

  it('but a number in what only its owner reads may be written in any way', () => {
    const body = requestWith({ kind: 'spend.settle', receipt: { amount: 7 } })
    const text = JSON.stringify(envelopeOf(body)).replace('"amount":7', '"amount":7.0')
    expect(opened(around(text)).body).toEqual(body)
  })

  it('but an integer of an operation may be loose for whoever asks, to be answered; one beside it never', async () => {
    const task = { title: 'T', prompt: 'P', workspace: 'site' }
    const read = { workspace: 'site', cursor: null, limit: 7 }
    const text = JSON.stringify(envelopeOf(requestWith({ kind: 'task.list', query: read })))
    const loose = around(text.replace('"limit":7', '"limit":7.0'))
    await refused('malformed', () => openEnvelope(loose, key))
    expect(openEnvelope(loose, key, { looseOperations: true }).looseOperation).toBe(true)
    const number = around(JSON.stringify(envelopeOf(requestWith(7))).replace('"op":7', '"op":7e0'))
    expect(openEnvelope(number, key, { looseOperations: true }).looseOperation).toBe(true)
    const exact = around(JSON.stringify(envelopeOf(requestWith({ kind: 'task.create', task }))))
    expect(openEnvelope(exact, key, { looseOperations: true }).looseOperation).toBeUndefined()
    for (const [from, to] of [
      [`"issued_at":${now}`, `"issued_at":${now}.0`],
      ['"requires":[]', '"requires":[],"op.x":1.0'],
      [`"retain_until":${now + 60}`, `"retain_until":${now + 60}.0`],
    ] as const) {
      const beside = around(text.replace(from, to))
      expect(text).toContain(from)
      await refused('malformed', () => openEnvelope(beside, key, { looseOperations: true }))
    }
  })

  it('when its content is over the cap, without being decrypted or verified', async () => {
    const event = { ...around(good), content: 'A'.repeat(envelopeContentBytesMax + 1) }
    await refused('bounds', () => openVerified(event, host.publicKey, () => expect.fail('a key was derived')))
    await refused('bounds', () => openEnvelope(around(good), key, { contentBytesMax: 200 }))
    const cap = { contentBytesMax: 200 }
    await refused('bounds', () => openVerified(around(good), host.publicKey, host.with, cap))
  })

  it('when its signature is not its author’s, without a key being derived', async () => {
    const event = around(good)
    const underivable = () => expect.fail('a key was derived')
    await refused('malformed', () =>
      openVerified({ ...event, sig: '0'.repeat(128) }, host.publicKey, underivable),
    )
    await refused('malformed', () =>
      openVerified({ ...event, pubkey: tablet.publicKey }, host.publicKey, underivable),
    )
    await refused('malformed', () =>
      openVerified({ ...event, created_at: now + 1 }, host.publicKey, underivable),
    )
  })
})

/** An event of the phone to the host around any plaintext, with any tags, correctly encrypted and signed. */
function around(
  plaintext: string,
  changes: { tags?: string[][]; kind?: number; created_at?: number } = {},
): NostrEvent {
  return phone.signer.sign({
    kind: 3188,
    created_at: now,
    tags: [
      ['p', host.publicKey],
      ['h', mailbox],
      ['t', 'oa:artifact:v1'],
    ],
    content: encrypt(plaintext, key, systemRandom.bytes(32)),
    ...changes,
  })
}

function envelopeOf(inline: JsonObject, changes: JsonObject = {}, artifact: JsonObject = {}): JsonObject {
  const canonical = jcs(inline)
  const size = Buffer.byteLength(canonical)
  const schema = inline['v'] ?? null
  return {
    v: 'openagents.artifact-envelope.v1',
    requires: [],
    artifact: { digest: sha256Digest(canonical), size, media_type: 'application/json', schema, ...artifact },
    inline,
    issued_at: now,
    retain_until: now + 60,
    ...changes,
  }
}
