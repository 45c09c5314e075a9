import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { homePaths } from '../../src/bridge/paths.ts'
import { changeServeSettings, withRelays } from '../../src/bridge/serve-settings.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { realDisk } from '../../src/store/disk.ts'
import type { FakeConnection } from '../support/fake-relay-sockets.ts'
import { testKey } from '../support/keys.ts'
import { type Question, type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'

const phone = testKey(13)
let bridge: QuietBridge
beforeEach(async () => {
  bridge = await quietBridge({ relayLifetimeSeconds: 10 })
  await bridge.enroll(phone, ['observe', 'operate'])
})
afterEach(() => bridge.stop())

const create = (title: string): Operation => ({
  kind: 'task.create',
  task: { title, prompt: 'Sort the entries.', workspace: 'site' },
})
const countTasks = async () => (await bridge.service().status()).tasks?.['queued'] ?? 0

async function given(op: Operation): Promise<Question> {
  const question = bridge.sign(phone, op)
  bridge.deliver(question.event)
  await bridge.answers(question)
  return question
}

describe('over fifty renewals, each of which replays what is stored', () => {
  it('every request is answered once, and one that is asked again once more', async () => {
    const questions: Question[] = []
    for (let round = 0; round < 50; round += 1) {
      if (round % 5 === 0)
        questions.push(await given(create(`Task ${round}`)), await given({ kind: 'workspace.list' }))
      const stored: NostrEvent[] = questions.map(({ event }) => event)
      await bridge.renew([...stored].reverse())
    }
    expect(questions.map((question) => bridge.heard(question))).toEqual(questions.map(() => 1))
    expect(await countTasks()).toBe(10)
    const status = await bridge.service().status()
    expect(status.relays).toMatchObject([{ state: 'live', reconnects: 0 }])

    const last = await given(create('Asked again'))
    await bridge.renew([last.event])
    bridge.deliver(last.event)
    expect(await bridge.answers(last, 2)).toHaveLength(2)
    expect([bridge.heard(last), await countTasks()]).toEqual([2, 11])
  })

  it('a grant that is renewed leaves the connection alone', async () => {
    await bridge.renew()
    const connection = bridge.connection()
    bridge.clock.jump(70_000_000)
    expect(await bridge.ask(phone, { kind: 'workspace.list' })).toMatchObject({ status: 'ok' })
    await expect.poll(() => bridge.operator.devices()).toHaveLength(2)
    expect([bridge.connection() === connection, connection.closed]).toEqual([true, false])
  })

  it('an answer that was not taken is published again while its request is fresh, and never after', async () => {
    const question = bridge.sign(phone, { kind: 'workspace.list' })
    bridge.deliver(question.event)
    for (let round = 0; round < 6; round += 1) await bridge.renew([question.event])
    const copies = bridge.heard(question)
    expect(copies).toBeGreaterThanOrEqual(6)
    const bytes = bridge.published().filter(({ tags }) => tags.some((tag) => tag[1] === question.request))
    expect(new Set(bytes.map((event) => JSON.stringify(event))).size).toBe(1)
    await bridge.clock.advance(6_000)
    for (let round = 0; round < 5; round += 1) await bridge.renew([question.event])
    expect(bridge.heard(question)).toBe(copies)
  })
})

describe('a relay that repeats what it gave', () => {
  it('on the next connection, and says that it is new, gets no second answer', async () => {
    const question = await given(create('Once'))
    await bridge.renew()
    bridge.deliver(question.event)
    await given({ kind: 'workspace.list' })
    expect([bridge.heard(question), await countTasks()]).toEqual([1, 1])
  })

  it('uses up nothing of what is asked again over the relay that the request names', async () => {
    const named = bridge.connection()
    await changeServeSettings(realDisk, homePaths(bridge.home), withRelays(['wss://liar.example.net/']))
    await bridge.operator.reload()
    const liar = bridge.connection()
    liar.goLive()
    const over = (connection: FakeConnection, { event }: Question) =>
      connection.say('EVENT', connection.subscription(), event)
    const question = bridge.sign(phone, create('Once'))
    over(named, question)
    const [answer] = await bridge.answers(question)
    named.say('OK', answer?.id, true, '')
    for (let copy = 0; copy < 5; copy += 1) over(liar, question)
    await bridge.untilCounted('other_relay')
    over(named, question)
    await expect.poll(() => bridge.heard(question)).toBe(2)
    expect(await countTasks()).toBe(1)
    for (const event of bridge.published()) named.say('OK', event.id, true, '')
  })
})

describe('what an event’s date can do', () => {
  it('is nothing to what is asked for next, even from an enrolled device two years ahead', async () => {
    const ahead = bridge.sign(phone, create('From the future'), {
      issued_at: 1_858_000_000,
      expires_at: 1_858_000_060,
    })
    bridge.deliver(ahead.event)
    await bridge.untilCounted('outside_window')
    await bridge.renew()
    const [, , filter] = bridge.connection().sent.find(([type]) => type === 'REQ') ?? []
    expect(filter).toMatchObject({ since: Math.floor(bridge.clock.nowMs() / 1000) - 60 })
    expect(bridge.heard(await given(create('Of today')))).toBe(1)
  })

  it('is nothing to another command of the same second', async () => {
    const questions = [bridge.sign(phone, create('One')), bridge.sign(phone, create('Two'))]
    expect(new Set(questions.map(({ event }) => event.created_at)).size).toBe(1)
    for (const { event } of questions) bridge.deliver(event)
    for (const question of questions) await bridge.answers(question)
    expect(await countTasks()).toBe(2)
  })

  it('and a forged copy with the genuine ID that comes first hide nothing', async () => {
    const question = bridge.sign(phone, create('Genuine'))
    bridge.deliver({ ...question.event, content: `${question.event.content.slice(0, -8)}AAAAAAA=` })
    await bridge.untilCounted('bad_signature')
    bridge.deliver(question.event)
    await bridge.answers(question)
    expect(await countTasks()).toBe(1)
  })
})
