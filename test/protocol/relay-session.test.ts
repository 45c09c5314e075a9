import { describe, expect, it } from 'vitest'
import { relayAuthTriesMax } from '../../src/limits.ts'
import type { SessionEffect } from '../../src/protocol/relay-session.ts'
import { verifyEvent } from '../../src/protocol/signer.ts'
import { artifact } from '../support/artifact.ts'
import {
  advance,
  answerAuth,
  hear,
  host,
  kinds,
  now,
  phone,
  sent,
  session,
  templates,
  url,
} from './session-stage.ts'

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
      advance(30)
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
