import { describe, expect, it } from 'vitest'
import { relayAuthTriesMax } from '../../src/limits.ts'
import type { SessionEffect } from '../../src/protocol/relay-session.ts'
import { artifact } from '../support/artifact.ts'
import { answerAuth, hear, host, kinds, phone, session } from './session-stage.ts'

describe('publishing', () => {
  const event = artifact(host, phone.publicKey)
  const outcome = (effects: SessionEffect[]) =>
    effects.flatMap((one) => (one.kind === 'published' ? [one.outcome] : []))

  it('waits until the subscription is asked for, then goes out behind it', () => {
    expect(session.publish(event)).toEqual([])
    expect(kinds(session.patienceEnded())).toEqual(['REQ', 'EVENT'])
    expect(outcome(hear('OK', event.id, true, ''))).toEqual([{ outcome: 'accepted', duplicate: false }])
    expect(hear('OK', event.id, true, '')).toEqual([])
  })

  it.each([
    ['duplicate: have it', { outcome: 'accepted', duplicate: true }],
    ['pow: 20 bits', { outcome: 'refused', prefix: 'pow', message: 'pow: 20 bits' }],
    ['blocked: you', { outcome: 'refused', prefix: 'blocked', message: 'blocked: you' }],
    ['rate-limited: slow', { outcome: 'refused', prefix: 'rate-limited', message: 'rate-limited: slow' }],
    ['invalid: old', { outcome: 'refused', prefix: 'invalid', message: 'invalid: old' }],
    ['mute: nobody', { outcome: 'refused', prefix: 'mute', message: 'mute: nobody' }],
    ['error: disk', { outcome: 'refused', prefix: 'error', message: 'error: disk' }],
    ['no reason', { outcome: 'refused', prefix: 'none', message: 'no reason' }],
  ])('answered with false and "%s" has a typed outcome', (message, expected) => {
    session.patienceEnded()
    session.publish(event)
    expect(outcome(hear('OK', event.id, false, message))).toEqual([expected])
  })

  it.each(['auth-required', 'restricted'])('refused with %s is sent again after AUTH', (prefix) => {
    answerAuth(hear('AUTH', 'c1'))
    hear('EOSE', 'in')
    session.publish(event)
    const effects = hear('OK', event.id, false, `${prefix}: for this`)
    expect(kinds(effects)).toEqual(['AUTH'])
    expect(kinds(answerAuth(effects))).toEqual(['REQ', 'EVENT'])
    expect(outcome(hear('OK', event.id, true, ''))).toEqual([{ outcome: 'accepted', duplicate: false }])
  })

  it('refused with restricted again and again ends refused, and the subscription lives on', () => {
    answerAuth(hear('AUTH', 'c1'))
    hear('EOSE', 'in')
    session.publish(event)
    let effects = hear('OK', event.id, false, 'restricted: no')
    for (let round = 1; round <= relayAuthTriesMax; round += 1) {
      expect(kinds(effects)).toEqual(['AUTH'])
      answerAuth(effects)
      hear('EOSE', 'in')
      effects = hear('OK', event.id, false, 'restricted: no')
    }
    expect(outcome(effects)).toEqual([
      { outcome: 'refused', prefix: 'restricted', message: 'restricted: no' },
    ])
    expect(session.isLive()).toBe(true)
  })

  it('without an OK is sent again after AUTH in mid-session, and not once it is forgotten', () => {
    session.patienceEnded()
    session.publish(event)
    expect(kinds(answerAuth(hear('AUTH', 'c1')))).toEqual(['REQ', 'EVENT'])
    session.forget(event.id)
    expect(kinds(answerAuth(hear('AUTH', 'c2')))).toEqual(['REQ'])
    expect(hear('OK', event.id, true, '')).toEqual([])
  })
})
