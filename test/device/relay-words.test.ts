import { describe, expect, it } from 'vitest'
import { relayRefusal } from '../../src/device/relay-words.ts'
import { type OkPrefix, okPrefixes } from '../../src/protocol/relay-frames.ts'

/** What a person is told, and whether the same event is published again on the same connection. */
const rows: readonly (readonly [OkPrefix, string, boolean])[] = [
  ['pow', 'proof of work', false],
  ['blocked', 'carries nothing from or to these keys', false],
  ['rate-limited', 'takes no more from this device for now', true],
  ['invalid', 'finds it invalid', false],
  ['restricted', 'does not serve this device', false],
  ['auth-required', 'does not accept who this device is', false],
  ['mute', 'nobody listened at the relay', true],
  ['error', 'could not take it', true],
  ['duplicate', 'has it already', false],
]

describe("a relay's refusal", () => {
  it('has words of its own for every prefix', () => {
    expect(rows.map(([prefix]) => prefix).sort()).toEqual([...okPrefixes].sort())
    expect(new Set(rows.map(([prefix]) => relayRefusal(prefix, `${prefix}: x`).words)).size).toBe(rows.length)
  })

  it.each(rows)(
    'of %s says "%s" and what the relay said itself; published again: %s',
    (prefix, words, again) => {
      const refusal = relayRefusal(prefix, `${prefix}: of its own`)
      expect(refusal.again).toBe(again)
      expect(refusal.words).toContain(words)
      expect(refusal.words).toMatch(new RegExp(`\\(${prefix}\\): of its own$`))
    },
  )

  it('without a prefix is told as it is, cut to 200 characters', () => {
    expect(relayRefusal('none', 'no')).toEqual({ words: 'the relay did not take it: no', again: true })
    expect(relayRefusal('none', '').words).toBe('the relay did not take it')
    expect(relayRefusal('none', 'x'.repeat(5_000)).words.length).toBeLessThan(240)
  })
})
