import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  answerBytesMax,
  eventBytesMax,
  relayEventBytesMin,
  relayInformationBytesMax,
} from '../../src/limits.ts'
import { emptyEventBytes, sealEnvelope } from '../../src/protocol/envelope.ts'
import { eventJson } from '../../src/protocol/event.ts'
import {
  answerBytesUnder,
  eventBytesUnder,
  limitNotes,
  noLimits,
  parseRelayLimits,
  type RelayLimits,
} from '../../src/protocol/relay-limits.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { testKey } from '../support/keys.ts'

const saying = (limitation: unknown) => parseRelayLimits(JSON.stringify({ name: 'a relay', limitation }))
const limits = (changes: Partial<RelayLimits>): RelayLimits => ({ ...noLimits, ...changes })

describe('an information document', () => {
  it('is read for the limits that matter here, whatever else it holds', () => {
    const read = saying({ max_message_length: 16_384, max_subscriptions: 20, auth_required: true, new: [1] })
    expect(read).toEqual(limits({ max_message_length: 16_384, max_subscriptions: 20, auth_required: true }))
  })

  it.each([
    ['no limits', '{}'],
    ['limits that are no object', '{"limitation":[]}'],
    ['limits that are null', '{"limitation":null}'],
    ['numbers as text', '{"limitation":{"max_message_length":"16384"}}'],
    ['numbers below zero', '{"limitation":{"max_message_length":-1,"max_content_length":-5}}'],
    ['broken numbers', '{"limitation":{"max_message_length":1.5}}'],
    ['numbers beyond all bounds', '{"limitation":{"max_message_length":1e300}}'],
    ['flags that are none', '{"limitation":{"auth_required":"yes"}}'],
  ])('with %s says nothing', (_, text) => {
    expect(parseRelayLimits(text)).toEqual(noLimits)
  })

  it.each([
    ['empty', ''],
    ['a page', '<html></html>'],
    ['a list', '[]'],
    ['null', 'null'],
    ['cut off', '{"limitation":{"max_message_length":16384'],
    ['twofold', '{"limitation":{},"limitation":{"max_message_length":4096}}'],
    ['too long', JSON.stringify({ description: 'x'.repeat(relayInformationBytesMax) })],
    ['too deep', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
  ])('that is %s is none', (_, text) => {
    expect(parseRelayLimits(text)).toBeNull()
  })

  it('is read or refused, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        const read = parseRelayLimits(text)
        if (read !== null) expect(eventBytesUnder(read)).toBeGreaterThanOrEqual(relayEventBytesMin)
      }),
    )
  })
})

describe('how long an event may be', () => {
  it.each([
    ['nothing said', {}, eventBytesMax],
    ['far more than is needed', { max_message_length: 1_048_576 }, eventBytesMax],
    ['messages of 16 KiB', { max_message_length: 16_384 }, 16_384 - '["EVENT",]'.length],
    ['content of 8 KiB', { max_content_length: 8_192 }, 8_192 + emptyEventBytes],
    [
      'both, and the smaller counts',
      { max_message_length: 16_384, max_content_length: 8_192 },
      8_192 + emptyEventBytes,
    ],
    ['no length at all, which is not believed', { max_message_length: 0 }, eventBytesMax],
    ['a length for nothing', { max_message_length: 100, max_content_length: 10 }, eventBytesMax],
    [
      'one that is believed and one that is not',
      { max_message_length: 100, max_content_length: 9_000 },
      9_000 + emptyEventBytes,
    ],
  ])('with %s', (_, changes, bytes) => {
    expect(eventBytesUnder(limits(changes))).toBe(bytes)
  })
})

describe('how long an outcome may be', () => {
  it('is the usual bound for a usual event', () => {
    expect(answerBytesUnder(eventBytesMax)).toBe(answerBytesMax)
  })

  it('leaves room for the rest of the answer, so that the signed event fits, and not much more', () => {
    const [host, phone] = [testKey(11), testKey(13)]
    fc.assert(
      fc.property(fc.integer({ min: 3_000, max: eventBytesMax }), (bytes) => {
        const room = answerBytesUnder(bytes)
        const sealed = (length: number) => eventJson(sealEnvelope(answer(length))).length
        const answer = (length: number) => ({
          signer: host.signer,
          recipient: phone.publicKey,
          mailbox: 'a'.repeat(64),
          body: {
            v: 'openagents.host-reply.v1',
            requires: [],
            request: 'a'.repeat(64),
            request_event: 'a'.repeat(64),
            host: host.publicKey,
            issued_at: 1_795_000_000,
            expires_at: 1_795_000_060,
            result: { status: 'ok', outcome: { kind: 'x'.repeat(length - '{"kind":""}'.length) } },
          },
          conversationKey: host.with(phone.publicKey),
          issuedAt: 1_795_000_000,
          retainUntil: 1_795_000_060,
          random: systemRandom,
        })
        expect(sealed(room)).toBeLessThanOrEqual(bytes)
        if (bytes < eventBytesMax) expect(sealed(room + 1_024)).toBeGreaterThan(bytes)
      }),
      { numRuns: 60 },
    )
  })
})

describe('what a person is told', () => {
  it.each([
    [{}, []],
    [{ max_message_length: 524_288, max_subscriptions: 20, max_limit: 500 }, []],
    [{ max_message_length: 16_384 }, ['events up to 16374 bytes: longer answers come in smaller pages']],
    [{ max_message_length: 7 }, ['max_message_length of 7 is not believed']],
    [{ max_content_length: 0 }, ['max_content_length of 0 is not believed']],
    [{ max_subscriptions: 0 }, ['no subscriptions']],
    [{ min_pow_difficulty: 20 }, ['wants proof of work, which is not done']],
    [{ payment_required: true }, ['wants to be paid']],
    [{ max_limit: 10 }, ['gives at most 10 stored events at a time']],
    [{ created_at_lower_limit: 30 }, ['refuses events older than 30 s']],
    [{ created_at_upper_limit: 3 }, ['refuses events dated more than 3 s ahead']],
    [{ created_at_lower_limit: 900, created_at_upper_limit: 900 }, []],
  ])('of %j', (changes, notes) => {
    expect(limitNotes(limits(changes))).toEqual(notes)
  })
})
