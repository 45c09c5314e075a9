import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plaintextBytesMax } from '../../src/limits.ts'
import { sha256Digest } from '../../src/protocol/digest.ts'
import {
  envelopeAddress,
  openEnvelope,
  openVerified,
  sealEnvelope,
  sealedBytes,
} from '../../src/protocol/envelope.ts'
import { eventJson, type NostrEvent } from '../../src/protocol/event.ts'
import { jcs } from '../../src/protocol/jcs.ts'
import type { JsonObject } from '../../src/protocol/json-value.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { hostFixtures, requestWith, validBody } from '../support/host-fixtures.ts'
import { testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'

const host = testKey(11)
const phone = testKey(13)
const tablet = testKey(14)
const key = phone.with(host.publicKey)
const mailbox = '3c'.repeat(32)
const now = 1_795_000_000
const request = validBody('request_command_send')

function seal(body: JsonObject, issuedAt = now, retainUntil = now + 60): NostrEvent {
  const to = {
    signer: phone.signer,
    recipient: host.publicKey,
    mailbox,
    conversationKey: key,
    random: systemRandom,
  }
  return sealEnvelope({ ...to, body, issuedAt, retainUntil })
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

const opened = (event: NostrEvent) => openVerified(event, host.publicKey, host.with)

describe('a sealed envelope', () => {
  it('opens to its body at either end and at no other', async () => {
    const event = seal(request)
    const expected = {
      author: phone.publicKey,
      recipient: host.publicKey,
      mailbox,
      schema: 'openagents.host-request.v1',
      body: request,
      issued_at: now,
      retain_until: now + 60,
    }
    expect(opened(event)).toEqual(expected)
    expect(openVerified(event, phone.publicKey, phone.with)).toEqual(expected)
    await refused('malformed', () => openVerified(event, tablet.publicKey, tablet.with))
    await refused('malformed', () => openEnvelope(event, tablet.with(phone.publicKey)))
  })

  it('is an event of kind 3188 with three tags, dated like its body, that shows nothing of it', () => {
    const event = seal(request)
    expect(event.kind).toBe(3188)
    expect(event.created_at).toBe(now)
    expect(event.tags).toEqual([
      ['p', host.publicKey],
      ['h', mailbox],
      ['t', 'oa:artifact:v1'],
    ])
    expect(eventJson(event)).not.toContain('table')
    expect(seal(request).content).not.toBe(event.content)
  })

  it('round-trips every request that text can make, to a size known beforehand', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2_000 }), (text) => {
        const body = requestWith({ kind: 'spend.list', grant: { text, [text]: [text] } })
        const event = seal(body)
        expect(openEnvelope(event, key).body).toEqual(body)
        expect(Buffer.byteLength(eventJson(event))).toBe(sealedBytes(body, now, now + 60))
      }),
      { numRuns: fuzzRuns(50) },
    )
  })

  it('is refused when it would be longer than other implementations can read', async () => {
    const overhead = plaintextBytesMax - room()
    expect(overhead).toBeLessThan(1_200)
    const refusal = await refused('bounds', () => seal(ofLength(room() + 1)))
    expect(refusal.message).toContain(String(plaintextBytesMax))
    expect(refusal.message).toContain(String(plaintextBytesMax + 1))
    expect(opened(seal(ofLength(room()))).schema).toBe('openagents.host-request.v1')
  })

  it('is refused for times that are not its body’s, and for what JSON cannot carry', async () => {
    await refused('malformed', () => seal(request, now + 1))
    await refused('malformed', () => seal(request, now, now + 61))
    await refused('malformed', () => seal({ ...request, op: { kind: '\ud800' } }))
    await refused('malformed', () => seal({ requires: [] }))
  })

  it('keeps presence for 300 seconds and a summary for at most seven days', async () => {
    const presence = validBody('presence')
    const summary = validBody('summary')
    expect(opened(seal(presence, now, now + 300)).body).toEqual(presence)
    await refused('malformed', () => seal(presence, now, now + 299))
    await refused('malformed', () => seal(presence, now + 1, now + 301))
    expect(opened(seal(summary, now, now + 604_800)).body).toEqual(summary)
    await refused('malformed', () => seal(summary, now, now + 604_801))
    await refused('malformed', () => seal(summary, now, now))
  })
})

it('tells who an artifact is for without opening it', () => {
  expect(envelopeAddress(hostFixtures.events[0]?.event ?? expect.fail('no event'))).toEqual({
    recipient: host.publicKey,
    mailbox,
  })
})

/** A request whose opaque text has `length` characters. */
function ofLength(length: number): JsonObject {
  return requestWith({ kind: 'spend.list', grant: { note: 'x'.repeat(length) } })
}

/** How long that text may be before the envelope is too long. */
function room(): number {
  return plaintextBytesMax - Buffer.byteLength(JSON.stringify(envelopeOf(ofLength(9_999)))) + 9_999
}
