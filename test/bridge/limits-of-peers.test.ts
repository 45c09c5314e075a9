import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import { id } from '../support/access.ts'
import { testKey } from '../support/keys.ts'
import { quietBridge } from '../support/quiet-bridge.ts'
import { outcome, refusal } from '../support/results.ts'

const phone = testKey(13)
const stranger = testKey(15)
const list: Operation = { kind: 'workspace.list' }
const create = (title: string): Operation => ({
  kind: 'task.create',
  task: { title, prompt: 'Sort the entries.', workspace: 'site' },
})
describe('strangers', () => {
  it('are not verified while no invitation is open', async () => {
    const bridge = await quietBridge()
    bridge.deliver(bridge.sign(stranger, list).event)
    await bridge.untilCounted('stranger_closed')
    await bridge.stop()
  })

  it('are refused at most once a second, verified at most twenty times, and only when small', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await bridge.clock.advance(1_000)
    for (let index = 0; index < 22; index += 1) bridge.deliver(bridge.sign(stranger, list).event)
    await bridge.untilCounted('stranger_rate', 2)
    await bridge.untilCounted('stranger_refusals', 19)
    await bridge.clock.advance(1_000)
    expect(refusal(await bridge.ask(stranger, list))).toBe('forbidden')
    const big = { kind: 'task.create', task: { title: 'T', prompt: 'p'.repeat(4_000), workspace: 'site' } }
    bridge.deliver(bridge.sign(stranger, big).event)
    await bridge.untilCounted('stranger_size')
    await bridge.stop()
  })

  it('are told so again at once after the clock was set back', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    expect(refusal(await bridge.ask(stranger, list))).toBe('forbidden')
    bridge.clock.jump(-3_600_000)
    expect(refusal(await bridge.ask(stranger, list))).toBe('forbidden')
    await bridge.stop()
  })

  it('a probe with an unknown operation is answered for a device and not for them', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const probe = bridge.sign(stranger, { kind: 'no.such' })
    bridge.deliver(probe.event)
    await bridge.untilCounted('bad_body')
    expect(bridge.heard(probe)).toBe(0)
    const known = bridge.sign(phone, { kind: 'no.such' })
    bridge.deliver(known.event)
    expect((await bridge.answers(known)).length).toBe(1)
    await bridge.stop()
  })
})

describe('a device', () => {
  it('creates at most sixty tasks an hour', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    for (let index = 0; index < 60; index += 1) {
      outcome(await bridge.ask(phone, create(`Task ${index}`)), 'dispatched')
    }
    expect(refusal(await bridge.ask(phone, create('One too many')))).toBe('rate_limited')
    await bridge.clock.advance(3_600_000)
    outcome(await bridge.ask(phone, create('An hour later')), 'dispatched')
    await bridge.stop()
  })

  it('counts the hour that is now, also when the clock was set back', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const asked = Array.from({ length: 60 }, (_, index) => bridge.sign(phone, create(`Task ${index}`)))
    for (const { event } of asked) bridge.deliver(event)
    const last = asked.at(-1)
    if (last !== undefined) await bridge.answers(last)
    await expect.poll(async () => (await bridge.service().status()).tasks).toMatchObject({ queued: 60 })
    bridge.clock.jump(-60_000)
    outcome(await bridge.ask(phone, create('By the new time')), 'dispatched')
    await bridge.stop()
  })

  it('gets no answer to a forged copy, which does not hide the genuine event', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const question = bridge.sign(phone, list)
    bridge.deliver({ ...question.event, sig: id(1).repeat(2) })
    await bridge.untilCounted('bad_signature')
    expect(bridge.heard(question)).toBe(0)
    bridge.deliver(question.event)
    await bridge.answers(question)
    await bridge.stop()
  })
})
