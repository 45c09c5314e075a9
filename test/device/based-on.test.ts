import { describe, expect, it } from 'vitest'
import { lookFreshMs } from '../../src/limits.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import { usualAnswer } from '../support/answering-host.ts'
import { refused } from '../support/refusals.ts'
import { clock, commandsHeard, host, open, openPaired, relay, task } from './device-stage.ts'

const looks = () => host.heard.filter(({ request }) => request.op.kind === 'task.queue')

/** Makes the host answer every look only when so much time has gone by. */
function answerLooksLate(ms: number): void {
  host.answer = (heard) => {
    if (heard.request.op.kind === 'task.queue') clock.advance(ms)
    return usualAnswer(host, heard)
  }
}

describe('what a command is based on', () => {
  it.each(['send', 'queue'] as const)(
    'for a %s is what was last seen, and nobody is asked',
    async (action) => {
      const device = await openPaired(5_000)
      await device.command({ task, action, text: 'x' })
      await device.queue(task, { action: 'list' })
      expect(looks()).toHaveLength(1)
      await device.command({ task, action, text: 'y' })
      expect(commandsHeard().map(({ based_on }) => based_on)).toEqual([0, 7])
      expect(looks()).toHaveLength(1)
    },
  )

  it.each(['steer', 'interrupt', 'answer'] as const)(
    'for a %s is what the host says at once',
    async (action) => {
      const device = await openPaired(5_000)
      await device.command({ task, action, text: 'x' })
      expect(commandsHeard()).toEqual([expect.objectContaining({ based_on: 7 })])
    },
  )

  it('is never a late answer: an interrupt then goes with the last revision seen before it', async () => {
    const device = await openPaired(5_000)
    const created = await device.create({ title: 'T', prompt: 'P', workspace: 'demo' })
    answerLooksLate(lookFreshMs + 1)
    await device.command({ task: created.task, action: 'interrupt', text: 'x' })
    // The late answer was not shown to anybody: it is not seen for the next command either.
    await device.command({ task: created.task, action: 'interrupt', text: 'x' })
    expect(commandsHeard().map(({ based_on }) => based_on)).toEqual([1, 1])
  })

  it('is refused for an interrupt, and nothing is kept, when a late answer is all that there is', async () => {
    const device = await openPaired(5_000)
    answerLooksLate(lookFreshMs + 1)
    const refusal = await refused('timeout', device.command({ task, action: 'interrupt', text: 'x' }))
    expect(refusal.message).toContain('the interrupt was not kept')
    expect(refusal.hint).toBe(`drawbridge device read ${task}`)
    expect(await device.outbox()).toEqual([])
    expect(commandsHeard()).toEqual([])
  })

  it('may be an answer that came just in time', async () => {
    const device = await openPaired(5_000)
    answerLooksLate(lookFreshMs - 1_000)
    await device.command({ task, action: 'steer', text: 'x' })
    expect(commandsHeard()).toEqual([expect.objectContaining({ based_on: 7 })])
  })

  it('waits no longer than an answer may be late', async () => {
    const device = await openPaired(5_000)
    host.answer = (heard) => (heard.request.op.kind === 'task.queue' ? null : usualAnswer(host, heard))
    const created = await device.create({ title: 'T', prompt: 'P', workspace: 'demo' })
    const before = clock.nowMs()
    const sent = await device.command({ task: created.task, action: 'interrupt', text: 'x' })
    expect(sent.state).toBe('accepted')
    expect(clock.nowMs() - before).toBeLessThan(4_500)
    expect(commandsHeard()).toEqual([expect.objectContaining({ based_on: 1 })])
  })

  it('outlives the process: a create that nobody answered yet is seen by the next one', async () => {
    const device = await openPaired()
    host.answer = () => null
    const { id } = await device.create({ title: 'T', prompt: 'P', workspace: 'demo' })
    const created = deviceTaskId((await device.whoami()).device, id)
    const next = await open()
    const sent = await next.command({ task: created, action: 'interrupt', text: 'x' })
    expect(sent).toMatchObject({
      state: 'unknown',
      why: expect.stringContaining('waits behind an earlier create'),
    })
  })
})

describe('a send', () => {
  it.each(['send', 'queue', 'create'] as const)(
    'as %s is in the outbox before the network is touched',
    async (kind) => {
      const paired = await openPaired()
      paired.close()
      await relay.close()
      const device = await open(5_000)
      const stop = new AbortController()
      const going =
        kind === 'create'
          ? device.create({ title: 'T', prompt: 'P', workspace: 'demo' }, stop.signal)
          : device.command({ task, action: kind, text: 'x' }, stop.signal)
      const ended = refused('interrupted', going)
      await expect.poll(() => device.outbox()).toMatchObject([{ kind, state: 'unknown' }])
      stop.abort()
      const [entry] = await device.outbox()
      expect((await ended).message).toContain(`is kept in the outbox as ${entry?.id}`)
    },
  )

  it('that is interrupted while the host is asked says that it was not kept', async () => {
    const device = await openPaired(5_000)
    host.answer = () => null
    const stop = new AbortController()
    host.onHeard = () => stop.abort()
    const refusal = await refused(
      'interrupted',
      device.command({ task, action: 'interrupt', text: 'x' }, stop.signal),
    )
    expect(refusal.message).toContain('before the interrupt was kept')
    expect(await device.outbox()).toEqual([])
  })

  it('behind one that is still unknown says so, a create too', async () => {
    const device = await openPaired()
    host.answer = () => null
    const first = await device.command({ task, action: 'queue', text: 'x' })
    expect(first).toMatchObject({ why: expect.stringMatching(/^no answer/) })
    const behind = `it waits behind an earlier queue, ${first.id.slice(0, 12)}: no answer`
    expect(await device.create({ title: 'T', prompt: 'P', workspace: 'demo' })).toMatchObject({
      state: 'unknown',
      why: expect.stringContaining(behind),
    })
    expect(await device.outbox()).toMatchObject([first, { why: expect.stringContaining(behind) }])
  })
})
