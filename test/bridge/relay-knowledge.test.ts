import { describe, expect, it } from 'vitest'
import { createRelayKnowledge } from '../../src/bridge/relay-knowledge.ts'
import { noLimits } from '../../src/protocol/relay-limits.ts'
import type { RelayDocument } from '../../src/seams/relay-information.ts'
import { fakeClock } from '../support/fake-clock.ts'

const url = 'wss://relay.example.net/'
const document = (limitation: object): RelayDocument => ({
  ok: true,
  text: JSON.stringify({ limitation }),
  dateMs: null,
})

/** Knowledge of a relay that answers these, one after the other, and then the last one for ever. */
function knowing(...answers: (RelayDocument | 'breaks')[]) {
  const clock = fakeClock()
  const asked: string[] = []
  const knowledge = createRelayKnowledge(url, clock, async (of) => {
    asked.push(of)
    const answer = answers[Math.min(asked.length, answers.length) - 1]
    if (answer === undefined || answer === 'breaks') throw new Error('a bug')
    return answer
  })
  const refresh = async () => {
    knowledge.refresh()
    await clock.advance(0)
  }
  return { clock, asked, knowledge, refresh }
}

describe('what is known of a relay', () => {
  it('is nothing before it said anything', () => {
    const { knowledge } = knowing()
    expect([knowledge.limits(), knowledge.note()]).toEqual([noLimits, null])
  })

  it('is what its document says, with a note of what is tight', async () => {
    const { knowledge, refresh, asked } = knowing(document({ max_message_length: 16_384, max_limit: 10 }))
    await refresh()
    expect(knowledge.limits()).toEqual({ ...noLimits, max_message_length: 16_384, max_limit: 10 })
    expect(knowledge.note()).toBe(
      'events up to 16374 bytes: longer answers come in smaller pages; gives at most 10 stored events at a time',
    )
    expect(asked).toEqual([url])
  })

  it('is asked for again at most once an hour, however many connections there are', async () => {
    const { clock, asked, refresh } = knowing(document({}))
    for (let minute = 0; minute < 180; minute += 1) {
      await refresh()
      await clock.advance(60_000)
    }
    expect(asked).toHaveLength(3)
  })

  it('is asked for every five minutes while the relay says nothing', async () => {
    const { clock, asked, refresh } = knowing({ ok: false, reason: 'HTTP 404' })
    for (let minute = 0; minute < 60; minute += 1) {
      await refresh()
      await clock.advance(60_000)
    }
    expect(asked).toHaveLength(12)
  })

  it('is asked for again after the clock was set back', async () => {
    const { clock, asked, refresh } = knowing(document({}))
    await refresh()
    clock.jump(-86_400_000)
    await refresh()
    expect(asked).toHaveLength(2)
  })

  it.each([
    ['is missing', { ok: false, reason: 'HTTP 404' }, 'no information document: HTTP 404'],
    [
      'does not read',
      { ok: true, text: '<html>', dateMs: null },
      'no information document: it does not read',
    ],
    ['cannot be asked for', 'breaks', 'no information document: it could not be asked for'],
  ] as const)('stays when the next document %s, and a note says so', async (_, answer, note) => {
    const { clock, knowledge, refresh } = knowing(document({ max_message_length: 16_384 }), answer)
    await refresh()
    await clock.advance(3_600_000)
    await refresh()
    expect([knowledge.limits().max_message_length, knowledge.note()]).toEqual([16_384, note])
  })

  it('is nothing where nobody may ask', () => {
    const knowledge = createRelayKnowledge(url, fakeClock(), undefined)
    knowledge.refresh()
    expect([knowledge.limits(), knowledge.note()]).toEqual([noLimits, null])
  })
})
