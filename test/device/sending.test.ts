import { describe, expect, it } from 'vitest'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import { usualAnswer } from '../support/answering-host.ts'
import { refused } from '../support/refusals.ts'
import { clock, comeBack, commandsHeard, host, open, openPaired, relay, task } from './device-stage.ts'

describe('a durable send', () => {
  it('is accepted, with an ID minted once', async () => {
    const device = await openPaired(5_000)
    const created = await device.create({ title: 'T', prompt: 'P', workspace: 'demo' })
    const { device: me } = await device.whoami()
    expect(created).toMatchObject({ state: 'accepted', kind: 'create', task: deviceTaskId(me, created.id) })
    const sent = await device.command({ task, action: 'queue', text: 'next' })
    expect(sent).toMatchObject({ state: 'accepted', kind: 'queue', task })
    expect(commandsHeard()).toEqual([
      expect.objectContaining({ command: sent.id, based_on: 0, text: 'next', emulate: false }),
    ])
    expect(await device.outbox()).toEqual([created, sent])
  })

  it('takes a given revision as it is, zero too', async () => {
    const device = await openPaired(5_000)
    await device.command({ task, action: 'queue', text: 'x', based_on: 0 })
    expect(commandsHeard()[0]?.based_on).toBe(0)
    expect(host.heard.some(({ request }) => request.op.kind === 'task.queue')).toBe(false)
  })

  it('ends refused only when the host says so', async () => {
    const device = await openPaired(5_000)
    host.answer = (heard) =>
      heard.request.op.kind === 'task.command'
        ? { status: 'refused', code: 'conflict', missing: null }
        : usualAnswer(host, heard)
    expect(await device.command({ task, action: 'send', text: 'x' })).toMatchObject({
      state: 'refused',
      code: 'conflict',
    })
  })

  it('of a task that the host will not show gets the host’s own refusal', async () => {
    const device = await openPaired(5_000)
    host.answer = () => ({ status: 'refused', code: 'forbidden', missing: null })
    expect(await device.command({ task, action: 'interrupt', text: 'x' })).toMatchObject({
      state: 'refused',
      code: 'forbidden',
    })
  })

  it('is unknown while nothing answers, never refused, and goes out again with the same command ID', async () => {
    const device = await openPaired()
    host.answer = () => null
    const sent = await device.command({ task, action: 'queue', text: 'x', based_on: 3 })
    expect(sent).toMatchObject({ state: 'unknown' })
    expect(await device.flush()).toEqual([expect.objectContaining({ id: sent.id, state: 'unknown' })])
    host.answer = (heard) => usualAnswer(host, heard)
    clock.advance(70_000)
    const patient = await open(5_000)
    expect(await patient.flush()).toEqual([expect.objectContaining({ id: sent.id, state: 'accepted' })])
    expect(new Set(commandsHeard().map((command) => JSON.stringify(command))).size).toBe(1)
  })

  it('is unknown when the relay is gone, and is delivered when it is back', async () => {
    const device = await openPaired()
    await relay.close()
    const sent = await device.command({ task, action: 'queue', text: 'x' })
    expect(sent).toMatchObject({ state: 'unknown', why: expect.stringContaining('relay') })
    await comeBack()
    expect(await (await open(5_000)).flush()).toEqual([
      expect.objectContaining({ id: sent.id, state: 'accepted' }),
    ])
    expect(commandsHeard()).toEqual([expect.objectContaining({ command: sent.id, based_on: 0 })])
  })

  it('hears the stored answer to what an earlier process sent, without a second event', async () => {
    const first = await openPaired(1_000)
    // The reply is on the relay, but this process is gone before it comes.
    let late: (() => void) | null = null
    const { send } = host
    host.send = (event) => {
      late = () => send(event)
    }
    const sent = await first.command({ task, action: 'queue', text: 'x', based_on: 1 })
    expect(sent.state).toBe('unknown')
    first.close()
    ;(late as (() => void) | null)?.()
    // Request and reply of the pairing, the command, the nudge after it, and the late reply.
    await expect.poll(() => relay.statistics().events).toBe(5)
    const second = await open(5_000)
    expect(await second.flush()).toEqual([expect.objectContaining({ id: sent.id, state: 'accepted' })])
    expect(commandsHeard()).toHaveLength(1)
  })

  it('keeps the order of the device, however long it was away', async () => {
    const device = await openPaired()
    host.answer = () => null
    const texts = Array.from({ length: 6 }, (_, index) => `message ${index}`)
    for (const text of texts) await device.command({ task, action: 'queue', text, based_on: 1 })
    expect((await device.outbox()).map(({ state }) => state)).toEqual(texts.map(() => 'unknown'))
    host.answer = (heard) => usualAnswer(host, heard)
    host.heard.length = 0
    clock.advance(20 * 60_000)
    await (await open(5_000)).flush()
    expect(commandsHeard().map(({ text }) => text)).toEqual(texts)
    // Signed when it was sent, but issued when it was given.
    for (const { event, request } of host.heard) {
      expect(Math.abs(event.created_at - clock.nowMs() / 1000)).toBeLessThan(5)
      if (request.op.kind !== 'task.command') continue
      expect(request.op.command.issued_at).toBeLessThan(event.created_at - 1_000)
    }
  })

  it('of a create keeps its request ID, and signs it again only when the first has surely expired', async () => {
    const device = await openPaired(1_000)
    host.answer = () => null
    const sent = await device.create({ title: 'T', prompt: 'P', workspace: 'demo' })
    host.answer = (heard) => usualAnswer(host, heard)
    clock.advance(61_000)
    expect(await device.flush()).toEqual([
      expect.objectContaining({ state: 'unknown', why: expect.stringContaining('asked again in') }),
    ])
    clock.advance(61_000)
    const patient = await open(5_000)
    expect(await patient.flush()).toEqual([expect.objectContaining({ id: sent.id, state: 'accepted' })])
    const creates = host.heard.filter(({ request }) => request.op.kind === 'task.create')
    expect(new Set(creates.map(({ request }) => request.request))).toEqual(new Set([sent.id]))
    expect(new Set(creates.map(({ event }) => event.id)).size).toBe(2)
  })

  it('that could never travel is refused before anything is kept', async () => {
    const device = await openPaired(5_000)
    await refused(
      'bounds',
      device.command({ task, action: 'queue', text: '\u0001'.repeat(16_000), based_on: 1 }),
    )
    await refused('bounds', device.command({ task, action: 'queue', text: ' ', based_on: 1 }))
    expect(await device.outbox()).toEqual([])
  })

  it('without any idea of the task is refused while the host is away, when it could hit another turn', async () => {
    const device = await openPaired()
    host.answer = () => null
    await refused('timeout', device.command({ task, action: 'interrupt', text: 'stop' }))
    expect(await device.outbox()).toEqual([])
    host.answer = (heard) => usualAnswer(host, heard)
    await (await open(5_000)).queue(task, { action: 'list' })
    host.answer = () => null
    await device.command({ task, action: 'interrupt', text: 'stop' })
    host.answer = (heard) => usualAnswer(host, heard)
    clock.advance(70_000)
    await (await open(5_000)).flush()
    expect(commandsHeard().at(-1)).toMatchObject({ action: 'interrupt', based_on: 7 })
  })

  it('from two processes at once is sent by one of them at a time, each once', async () => {
    await openPaired()
    const [one, two] = [await open(5_000), await open(5_000)]
    const sent = await Promise.all(
      [one, two, one, two].map((device, index) =>
        device.command({ task, action: 'queue', text: `m${index}`, based_on: 1 }),
      ),
    )
    expect(sent.map(({ state }) => state)).toEqual(Array(4).fill('accepted'))
    expect(commandsHeard()).toHaveLength(4)
  })
})
