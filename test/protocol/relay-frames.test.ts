import { describe, expect, it } from 'vitest'
import { filterValuesMax, relayFiltersMax, relayFrameBytesMax } from '../../src/limits.ts'
import {
  frameText,
  okPrefix,
  okPrefixes,
  parseClientFrame,
  parseRelayFrame,
} from '../../src/protocol/relay-frames.ts'
import { hostFixtures } from '../support/host-fixtures.ts'

const event = hostFixtures.events[0]?.event ?? expect.fail('no event')
const { id } = event
const filter = { kinds: [3188], '#p': [hostFixtures.keys.host], since: 5 }
const client = (...parts: unknown[]) => parseClientFrame(JSON.stringify(parts))
const relay = (...parts: unknown[]) => parseRelayFrame(JSON.stringify(parts))

describe('a client frame', () => {
  it.each([
    [['AUTH', event], { type: 'AUTH', event }],
    [['EVENT', event], { type: 'EVENT', event }],
    [['REQ', 's', filter], { type: 'REQ', subscription: 's', filters: [filter] }],
    [['REQ', 's', {}, filter], { type: 'REQ', subscription: 's', filters: [{}, filter] }],
    [['COUNT', 's', filter], { type: 'COUNT', subscription: 's', filters: [filter] }],
    [['CLOSE', 's'], { type: 'CLOSE', subscription: 's' }],
    [
      ['REQ', 's', { ids: [id], authors: [id], kinds: [1, 2], until: 9, limit: 0, '#e': ['x'], '#T': [] }],
      {
        type: 'REQ',
        subscription: 's',
        filters: [{ ids: [id], authors: [id], kinds: [1, 2], until: 9, limit: 0, '#e': ['x'], '#T': [] }],
      },
    ],
  ])('%#: is read', (parts, frame) => {
    expect(client(...parts)).toEqual(frame)
  })

  it.each([
    [[]],
    [['HELLO']],
    [['OK', id, true, '']],
    [['EVENT']],
    [['EVENT', event, 'more']],
    [['EVENT', 's', event]],
    [['EVENT', { ...event, extra: 1 }]],
    [['EVENT', { ...event, id: 'x' }]],
    [['AUTH', 'challenge']],
    [['REQ', 's']],
    [['REQ', '', filter]],
    [['REQ', 'x'.repeat(65), filter]],
    [['REQ', 5, filter]],
    [['REQ', 's', filter, 'x']],
    [['REQ', 's', null]],
    [['REQ', 's', []]],
    [['REQ', 's', { search: 'x' }]],
    [['REQ', 's', { search: ['x'] }]],
    [['REQ', 's', { '#pp': ['x'] }]],
    [['REQ', 's', { '#': ['x'] }]],
    [['REQ', 's', { '#p': 'x' }]],
    [['REQ', 's', { constructor: ['x'] }]],
    [['REQ', 's', { ids: ['abc'] }]],
    [['REQ', 's', { authors: [id.toUpperCase()] }]],
    [['REQ', 's', { kinds: ['1'] }]],
    [['REQ', 's', { since: -1 }]],
    [['REQ', 's', { limit: 1.5 }]],
    [['REQ', 's', { limit: null }]],
    [['REQ', 's', ...Array.from({ length: relayFiltersMax + 1 }, () => filter)]],
    [['REQ', 's', { kinds: Array.from({ length: filterValuesMax + 1 }, () => 1) }]],
    [['CLOSE']],
    [['CLOSE', 's', 's']],
  ])('%#: is nothing when it is %j', (parts) => {
    expect(client(...parts)).toBeNull()
  })
})

describe('a relay frame', () => {
  it.each([
    [['EVENT', 's', event], { type: 'EVENT', subscription: 's', event }],
    [['OK', id, true, ''], { type: 'OK', event: id, accepted: true, prefix: 'none', message: '' }],
    [
      ['OK', id, false, 'rate-limited: slow down'],
      { type: 'OK', event: id, accepted: false, prefix: 'rate-limited', message: 'rate-limited: slow down' },
    ],
    [['EOSE', 's'], { type: 'EOSE', subscription: 's' }],
    [['EOSE', 's', { more: false }], { type: 'EOSE', subscription: 's' }],
    [
      ['CLOSED', 's', 'auth-required: who are you'],
      { type: 'CLOSED', subscription: 's', prefix: 'auth-required', message: 'auth-required: who are you' },
    ],
    [['NOTICE', 'hello'], { type: 'NOTICE', message: 'hello' }],
    [['AUTH', 'challenge'], { type: 'AUTH', challenge: 'challenge' }],
    [['COUNT', 's', { count: 3 }], { type: 'COUNT', subscription: 's', count: 3 }],
    [['COUNT', 's', { count: 3, approximate: true }], { type: 'COUNT', subscription: 's', count: 3 }],
  ])('%#: is read', (parts, frame) => {
    expect(relay(...parts)).toEqual(frame)
  })

  it.each([
    [['EVENT', event]],
    [['EVENT', 's', { ...event, sig: '' }]],
    [['OK', id, 'true', '']],
    [['OK', 'x', true, '']],
    [['OK', id, true]],
    [['EOSE']],
    [['CLOSED', 's', 7]],
    [['NOTICE', null]],
    [['AUTH', '']],
    [['AUTH', 'x'.repeat(1_025)]],
    [['COUNT', 's', { count: -1 }]],
    [['REQ', 's', filter]],
  ])('%#: is nothing when it is %j', (parts) => {
    expect(relay(...parts)).toBeNull()
  })

  it('keeps only the head of a long message', () => {
    const frame = relay('NOTICE', 'x'.repeat(5_000))
    expect(frame).toEqual({ type: 'NOTICE', message: 'x'.repeat(1_024) })
  })
})

describe('frames of either side', () => {
  it.each([
    '',
    'hello',
    '{}',
    '"EVENT"',
    '["NOTICE","a"',
    '["NOTICE","a"] ["NOTICE","b"]',
    '["NOTICE","\\ud800"]',
    '\ufeff["NOTICE","a"]',
  ])('are nothing when they are %j', (text) => {
    expect(parseRelayFrame(text)).toBeNull()
    expect(parseClientFrame(text)).toBeNull()
  })

  it('are nothing with a field given twice, however it is written', () => {
    const text = frameText(['EVENT', event])
    expect(parseClientFrame(text)).not.toBeNull()
    expect(parseClientFrame(text.replace('{', '{"kind":1,'))).toBeNull()
    expect(parseClientFrame(text.replace('{', '{"k\\u0069nd":1,'))).toBeNull()
  })

  it('are nothing with a condition that an object has by itself', () => {
    const text = frameText(['REQ', 's', { kinds: [3188], limit: 1 }])
    expect(parseClientFrame(text)).not.toBeNull()
    expect(parseClientFrame(text.replace('"limit":1', '"__proto__":["x"]'))).toBeNull()
    expect(parseClientFrame(text.replace('"limit":1', '"constructor":["x"]'))).toBeNull()
  })

  it('are nothing over their bound', () => {
    const padded = (bytes: number) => frameText(['NOTICE', 'x'.repeat(bytes - '["NOTICE",""]'.length)])
    expect(parseRelayFrame(padded(relayFrameBytesMax))).not.toBeNull()
    expect(parseRelayFrame(padded(relayFrameBytesMax + 1))).toBeNull()
  })
})

describe('the prefix of a message', () => {
  it.each(okPrefixes)('%s is recognised', (prefix) => {
    expect(okPrefix(`${prefix}: because`)).toBe(prefix)
    expect(okPrefix(`${prefix}:`)).toBe(prefix)
    expect(okPrefix(prefix)).toBe('none')
    expect(okPrefix(` ${prefix}: x`)).toBe('none')
  })
})
