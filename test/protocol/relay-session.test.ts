import { beforeEach, describe, expect, it } from 'vitest'
import { relayAuthTriesMax } from '../../src/limits.ts'
import type { EventTemplate } from '../../src/protocol/event.ts'
import {
  createRelaySession,
  type RelaySession,
  type SessionEffect,
} from '../../src/protocol/relay-session.ts'
import { verifyEvent } from '../../src/protocol/signer.ts'
import { artifact } from '../support/artifact.ts'
import { testKey } from '../support/keys.ts'

const host = testKey(11)
const phone = testKey(13)
const url = 'wss://relay.example.net/'

let session: RelaySession
let now: number

beforeEach(() => {
  now = 1_795_000_000
  session = createRelaySession({
    url,
    subscription: 'in',
    filters: () => [{ kinds: [3188], since: now - 60 }],
    now: () => now,
  })
})

/** What a frame leads to, every AUTH signed at once. */
const hear = (...frame: unknown[]): SessionEffect[] => signAll(session.received(JSON.stringify(frame)))
const signAll = (effects: SessionEffect[]): SessionEffect[] =>
  effects.flatMap((effect) =>
    effect.kind === 'sign' ? session.signed(host.signer.sign(effect.template)) : [effect],
  )
const templates = (effects: SessionEffect[]): EventTemplate[] =>
  effects.flatMap((effect) => (effect.kind === 'sign' ? [effect.template] : []))
const sent = (effects: SessionEffect[]): unknown[][] =>
  effects.flatMap((effect) => (effect.kind === 'send' ? [JSON.parse(effect.text)] : []))
const kinds = (effects: SessionEffect[]): string[] =>
  effects.map((effect) => (effect.kind === 'send' ? JSON.parse(effect.text)[0] : effect.kind))

/** Answers the AUTH that is among `effects` as the relay does. */
function answerAuth(effects: SessionEffect[], accepted = true, message = ''): SessionEffect[] {
  const auth = sent(effects).find((frame) => frame[0] === 'AUTH')?.[1] as { id: string }
  return hear('OK', auth.id, accepted, message)
}

describe('opening', () => {
  it('authenticates before it asks, for the dialled URL and this challenge only', () => {
    const effects = hear('AUTH', 'c1')
    const [[, auth]] = sent(effects) as [[string, Parameters<typeof verifyEvent>[0]]]
    expect(auth).toMatchObject({
      kind: 22_242,
      created_at: now,
      pubkey: host.publicKey,
      tags: [
        ['relay', url],
        ['challenge', 'c1'],
      ],
    })
    expect(verifyEvent(auth)).toBe(true)
    expect(sent(answerAuth(effects))).toEqual([['REQ', 'in', { kinds: [3188], since: now - 60 }]])
    expect(session.isLive()).toBe(false)
    expect(kinds(hear('EOSE', 'in'))).toEqual(['live'])
    expect(session.isLive()).toBe(true)
  })

  it('asks without AUTH when the relay never challenges', () => {
    expect(kinds(session.patienceEnded())).toEqual(['REQ'])
    expect(session.patienceEnded()).toEqual([])
  })

  it('asks in the end when the relay never answers its AUTH', () => {
    hear('AUTH', 'c1')
    expect(session.auth()).toBe('sent')
    expect(kinds(session.patienceEnded())).toEqual(['REQ'])
  })

  it('asks all the same when AUTH is refused, and is lost when the relay insists', () => {
    expect(kinds(answerAuth(hear('AUTH', 'c1'), false, 'restricted: not a member'))).toEqual(['REQ'])
    const again = hear('CLOSED', 'in', 'auth-required: who are you')
    expect(answerAuth(again, false, 'restricted: not a member')).toEqual([
      { kind: 'lost', prefix: 'restricted', message: 'restricted: not a member' },
    ])
  })
})

describe('a signer that takes its time', () => {
  const challenged = (challenge: string): SessionEffect[] =>
    session.received(JSON.stringify(['AUTH', challenge]))

  it('holds up nothing else, and its AUTH goes out when it is there', () => {
    const [template] = templates(challenged('c1'))
    if (template === undefined) throw new Error('nothing to sign')
    expect(session.auth()).toBe('signing')
    expect(kinds(session.patienceEnded())).toEqual(['REQ'])
    // What a relay shows to a stranger is not what it will show to us.
    expect([hear('EOSE', 'in'), session.isLive()]).toEqual([[], false])
    const sending = session.signed(host.signer.sign(template))
    expect([kinds(sending), session.auth()]).toEqual([['AUTH'], 'sent'])
    expect(kinds(answerAuth(sending))).toEqual(['REQ'])
    expect([kinds(hear('EOSE', 'in')), session.isLive()]).toEqual([['live'], true])
  })

  it('is not asked twice for one challenge, and its answer to a challenge that was replaced is dropped', () => {
    const [first] = templates(challenged('c1'))
    expect(challenged('c1')).toEqual([])
    const [second] = templates(challenged('c2'))
    if (first === undefined || second === undefined) throw new Error('nothing to sign')
    expect(session.signed(host.signer.sign(first))).toEqual([])
    expect(session.unsigned(first)).toEqual([])
    expect(kinds(session.signed(host.signer.sign(second)))).toEqual(['AUTH'])
  })

  it('that signs something else has signed nothing', () => {
    const [template] = templates(challenged('c1'))
    if (template === undefined) throw new Error('nothing to sign')
    const elsewhere = [
      ['relay', 'wss://other.example.net/'],
      ['challenge', 'c1'],
    ]
    expect(session.signed(host.signer.sign({ ...template, tags: elsewhere }))).toEqual([])
    expect(session.signed(host.signer.sign({ ...template, kind: 1 }))).toEqual([])
  })

  it('and fails is as good as a refusal: ask all the same, give up when the relay insists', () => {
    const [template] = templates(challenged('c1'))
    if (template === undefined) throw new Error('nothing to sign')
    expect(kinds(session.unsigned(template))).toEqual(['REQ'])
    const [again] = templates(session.received('["CLOSED","in","auth-required: who"]'))
    if (again === undefined) throw new Error('nothing to sign')
    expect(session.unsigned(again)).toEqual([
      { kind: 'lost', prefix: 'none', message: 'the authentication could not be signed' },
    ])
  })
})

describe('a subscription whose time to become live is over', () => {
  it('is live when the relay serves it and only never ends its stored events', () => {
    session.patienceEnded()
    expect(session.liveOverdue()).toEqual([])
    hear('EVENT', 'in', artifact(phone, host.publicKey))
    expect(kinds(session.liveOverdue())).toEqual(['live'])
    const next = hear('EVENT', 'in', artifact(phone, host.publicKey))
    expect(next).toMatchObject([{ kind: 'event', stored: false }])
  })

  it('is live when stored events ended and AUTH is never answered, and at once when it is refused', () => {
    session.patienceEnded()
    const asked = hear('AUTH', 'c1')
    expect(hear('EOSE', 'in')).toEqual([])
    expect(kinds(answerAuth(asked, false, 'error: no'))).toEqual(['live'])
    expect(session.auth()).toBe('refused')
    expect(kinds(answerAuth(hear('AUTH', 'c2')))).toEqual(['REQ'])
    hear('AUTH', 'c3')
    hear('EOSE', 'in')
    expect([session.isLive(), session.auth()]).toEqual([false, 'sent'])
    expect(kinds(session.liveOverdue())).toEqual(['live'])
  })

  it('is nothing when the relay never said a word about it', () => {
    session.patienceEnded()
    hear('NOTICE', 'auth-required: in')
    hear('EVENT', 'other', artifact(phone, host.publicKey))
    expect(session.liveOverdue()).toEqual([])
  })
})

describe('a relay that asks in mid-session', () => {
  const goLive = (): void => {
    answerAuth(hear('AUTH', 'c1'))
    hear('EOSE', 'in')
  }

  it.each(['auth-required', 'restricted'])(
    'with CLOSED %s gets AUTH, then the same subscription again',
    (prefix) => {
      goLive()
      now += 30
      const effects = hear('CLOSED', 'in', `${prefix}: again`)
      expect(session.isLive()).toBe(false)
      expect(hear('AUTH', 'c1')).toEqual([])
      expect(sent(answerAuth(effects))).toEqual([['REQ', 'in', { kinds: [3188], since: now - 60 }]])
      expect(kinds(hear('EOSE', 'in'))).toEqual(['live'])
    },
  )

  it('with a new challenge alone is answered and asked again, and an answer to the old one means nothing', () => {
    goLive()
    const [second, third] = [hear('AUTH', 'c2'), hear('AUTH', 'c3')]
    expect(kinds([...second, ...third])).toEqual(['AUTH', 'AUTH'])
    expect(answerAuth(second, false, 'invalid: old challenge')).toEqual([])
    expect(kinds(answerAuth(third))).toEqual(['REQ'])
  })

  it('waits for the challenge when the relay closes before it ever gave one', () => {
    session.patienceEnded()
    expect(hear('CLOSED', 'in', 'auth-required: first')).toEqual([])
    expect(kinds(hear('AUTH', 'c1'))).toEqual(['AUTH'])
  })

  it('without end is given up on', () => {
    let effects = answerAuth(hear('AUTH', 'c1'))
    let rounds = 0
    while (!kinds(effects).includes('lost')) {
      rounds += 1
      const asked = hear('CLOSED', 'in', 'auth-required: again')
      effects = kinds(asked).includes('lost') ? asked : answerAuth(asked)
    }
    expect(rounds).toBe(relayAuthTriesMax)
  })

  it('many times over an hour, content after each, is never given up on', () => {
    goLive()
    for (let round = 0; round < 20; round += 1) {
      expect(kinds(answerAuth(hear('CLOSED', 'in', 'auth-required: hourly')))).toEqual(['REQ'])
      hear('EOSE', 'in')
    }
  })
})

describe('CLOSED for another reason', () => {
  it.each(['rate-limited', 'blocked', 'invalid', 'error', 'pow', 'mute'])(
    '%s ends the connection, typed',
    (prefix) => {
      session.patienceEnded()
      expect(hear('CLOSED', 'in', `${prefix}: no`)).toEqual([
        { kind: 'lost', prefix, message: `${prefix}: no` },
      ])
    },
  )

  it('of another subscription is not ours', () => {
    session.patienceEnded()
    expect(hear('CLOSED', 'other', 'error: no')).toEqual([])
  })
})

describe('events', () => {
  it('are marked stored until the end of stored events, and again while re-subscribing', () => {
    const event = artifact(phone, host.publicKey)
    session.patienceEnded()
    expect(hear('EVENT', 'in', event)).toEqual([{ kind: 'event', event, stored: true }])
    hear('EOSE', 'in')
    expect(hear('EVENT', 'in', event)).toEqual([{ kind: 'event', event, stored: false }])
    answerAuth(hear('AUTH', 'c1'))
    expect(hear('EVENT', 'in', event)).toEqual([{ kind: 'event', event, stored: true }])
    expect(hear('EVENT', 'other', event)).toEqual([])
  })

  it.each(['nonsense', '[]', '["EVENT","in",{}]', '["OK"]', '{"a":1}', '["AUTH",7]'])(
    '%s is nothing',
    (text) => {
      session.patienceEnded()
      expect(session.received(text)).toEqual([])
    },
  )
})

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
