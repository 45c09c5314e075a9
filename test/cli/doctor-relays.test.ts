import { describe, expect, it } from 'vitest'
import type { RelayProbe } from '../../src/bridge/relay-probe.ts'
import { checksOf } from '../../src/cli/doctor-relays.ts'
import { noLimits, type RelayLimits } from '../../src/protocol/relay-limits.ts'

const url = 'wss://relay.example.net/'
const host = 'a'.repeat(64)
const probe = (changes: Partial<RelayProbe> = {}): RelayProbe => ({
  url,
  fault: null,
  auth: 'accepted',
  limits: noLimits,
  undocumented: null,
  aheadSeconds: 0,
  ...changes,
})
const limited = (changes: Partial<RelayLimits>) => probe({ limits: { ...noLimits, ...changes } })
const named = (looked: RelayProbe, part: string) =>
  checksOf(looked, host).find(({ name }) => name === `relay ${url}${part}`)

describe('what doctor says of a relay', () => {
  it('where all is well is four good words', () => {
    expect(checksOf(probe(), host).map(({ ok, detail, fix }) => [ok, detail, fix])).toEqual([
      [true, 'live', null],
      [true, 'it knows this host', null],
      [true, 'takes events of 49152 bytes', null],
      [true, 'agrees with this machine’s', null],
    ])
  })

  it('that cannot be reached is why, what to do, and what its clock says all the same', () => {
    const found = checksOf(probe({ fault: 'connect ECONNREFUSED', aheadSeconds: -300 }), host)
    expect(found).toMatchObject([
      { ok: false, detail: 'connect ECONNREFUSED', fix: expect.stringContaining(`relay remove '${url}'`) },
      { ok: false, detail: '300 s behind this machine’s' },
    ])
  })

  it('of this computer that cannot be reached is to be started', () => {
    const [found] = checksOf(probe({ url: 'ws://127.0.0.1:7777', fault: 'connect ECONNREFUSED' }), host)
    expect(found?.fix).toContain('serve --embedded-relay 127.0.0.1:7777 --loopback-test')
  })

  it.each([
    ['accepted', true, null],
    ['none', true, null],
    ['refused', false, expect.stringContaining(host)],
    ['sent', false, expect.stringContaining(host)],
  ] as const)('that leaves an authentication %s', (auth, ok, fix) => {
    expect(named(probe({ auth }), ', who reads')).toMatchObject({ ok, fix })
  })

  it.each([
    [{ max_message_length: 65_536 }, true],
    [{ max_message_length: 16_384 }, true],
    [{ max_message_length: 8_000 }, false],
    [{ max_content_length: 3_000 }, false],
    [{ max_message_length: 3 }, true],
    [{ min_pow_difficulty: 12 }, false],
    [{ payment_required: true }, false],
    [{ max_limit: 5 }, true],
  ])('with the limits %j', (limits, ok) => {
    const check = named(limited(limits), ', limits')
    expect(check).toMatchObject({ ok, fix: ok ? null : expect.stringContaining('use another relay') })
  })

  it('without a document is no fault', () => {
    const check = named(probe({ undocumented: 'HTTP 404' }), ', limits')
    expect(check).toMatchObject({ ok: true, detail: 'not told: HTTP 404' })
  })

  it.each([
    [0, {}, true],
    [-1, {}, true],
    [20, {}, true],
    [-60, {}, true],
    [61, {}, false],
    [-61, {}, false],
    [-5, { created_at_upper_limit: 3 }, false],
    [5, { created_at_upper_limit: 3 }, true],
    [-2, { created_at_upper_limit: 0 }, false],
    [-1, { created_at_upper_limit: 0 }, true],
  ])('whose clock is %i s ahead, with %j', (aheadSeconds, limits, ok) => {
    const check = named({ ...limited(limits), aheadSeconds }, ', clock')
    expect(check).toMatchObject({ ok, fix: ok ? null : expect.stringContaining('set-ntp') })
  })

  it('whose clock is not told says nothing of it', () => {
    expect(named(probe({ aheadSeconds: null }), ', clock')).toBe(undefined)
  })
})
