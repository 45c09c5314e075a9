import { describe, expect, it } from 'vitest'
import { publishAction, relayAnswers } from '../../src/protocol/relay-answers.ts'
import { okPrefixes } from '../../src/protocol/relay-frames.ts'

describe('what is done about a relay that says no', () => {
  it.each([
    ['duplicate', 'done', 'again'],
    ['auth-required', 'authenticate', 'authenticate'],
    ['restricted', 'authenticate', 'authenticate'],
    ['rate-limited', 'slow_down', 'slow_down'],
    ['error', 'again', 'again'],
    ['mute', 'again', 'again'],
    ['pow', 'give_up', 'rarely'],
    ['blocked', 'give_up', 'rarely'],
    ['invalid', 'give_up', 'rarely'],
    ['none', 'again', 'again'],
    ['silence', 'again', 'again'],
  ] as const)('with %s: to an event %s, to a subscription %s', (prefix, publisher, subscriber) => {
    expect(relayAnswers[prefix]).toEqual({ publisher, subscriber })
  })

  it('is in one row for every prefix, one for none, and one for silence', () => {
    expect(Object.keys(relayAnswers).sort()).toEqual([...okPrefixes, 'none', 'silence'].sort())
  })
})

describe('what a relay says of an event', () => {
  it.each([...okPrefixes, 'none'] as const)('with true and %s is that it is there', (prefix) => {
    expect(publishAction(true, prefix)).toBe('done')
  })

  it.each([...okPrefixes, 'none'] as const)('with false and %s is what the table says', (prefix) => {
    expect(publishAction(false, prefix)).toBe(relayAnswers[prefix].publisher)
  })
})
