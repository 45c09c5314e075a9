import { describe, expect, it } from 'vitest'
import { wireResult } from '../../src/commands/wire-result.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import { type Desk, openDesk, phone, tablet } from '../support/command-desk.ts'
import { refused } from '../support/refusals.ts'
import { beginTurn, endTurn, runTurn, settleGoneTurn } from '../support/turns.ts'

const task = 'task-1'

describe('recording a command', () => {
  it('makes it durable with its first effect in one journal write and one task write', async () => {
    const desk = await openDesk(task)
    await runTurn(desk.tasks, task)
    const before = desk.disk.journalWrites
    const state = await desk.commands.record(phone, desk.mint(task, 'send', 'Next.', { based_on: 5 }))
    expect(desk.disk.journalWrites - before).toBe(1)
    expect(state).toEqual({ state: 'done', outcome: 'applied', revision: 6 })
    const [entry] = (await desk.file()).entries
    expect(entry?.state).toMatchObject({ state: 'dispatching', then_hold: false })
    expect(await desk.tasks.show(task)).toMatchObject({ revision: 6, status: 'queued' })
    expect(desk.continued).toEqual([task])
  })

  it('names the store command after device and command alone', async () => {
    const desk = await openDesk(task)
    await runTurn(desk.tasks, task)
    await desk.commands.record(
      phone,
      desk.mint(task, 'send', 'Next.', { command: 'c'.repeat(64), based_on: 5 }),
    )
    const state = (await desk.file()).entries[0]?.state
    if (state?.state !== 'dispatching') throw new Error('the entry is not dispatching')
    expect(state.bytes).toBe(
      '{"schema":"openagents.coder.task-command.v1",' +
        '"command_id":"device-dca490f4b424a2b171c1a56b69cd6716ebe6f61e526b5cec","task_id":"task-1",' +
        '"expected_revision":5,"action":{"type":"continue","prompt":"Next."}}',
    )
  })

  it('refuses an unknown task as forbidden and records nothing', async () => {
    const desk = await openDesk(task)
    const writes = desk.disk.journalWrites
    await refused('forbidden', desk.commands.record(phone, desk.mint('task-2', 'queue')))
    expect(desk.commands.entries()).toEqual([])
    expect(desk.disk.journalWrites).toBe(writes)
  })

  it('refuses a command ID that was used with another text, and keeps the first', async () => {
    const desk = await openDesk(task)
    const first = desk.mint(task, 'queue', 'First.')
    await desk.commands.record(phone, first)
    await refused('conflict', desk.commands.record(phone, { ...first, text: 'Second.' }))
    expect(desk.commands.entries().map((entry) => entry.request.text)).toEqual(['First.'])
  })

  for (const change of [
    { task: 'task-2' },
    { kind: 'send' },
    { based_on: 2 },
    { emulate: true },
    { issued_at: 5 },
  ] as const) {
    it(`refuses a command ID that was used with another ${Object.keys(change)[0]}`, async () => {
      const desk = await openDesk(task, 'task-2')
      const first = desk.mint(task, 'queue')
      await desk.commands.record(phone, first)
      await refused('conflict', desk.commands.record(phone, { ...first, ...change }))
    })
  }

  it('takes the same ID from another device as another command', async () => {
    const desk = await openDesk(task)
    const request = desk.mint(task, 'queue')
    await desk.commands.record(phone, request)
    await desk.commands.record(tablet, { ...request, text: 'From the tablet.' })
    expect(desk.commands.entries()).toHaveLength(2)
  })

  it('answers a replay with the current state, under whatever grant it comes now, and writes nothing', async () => {
    const desk = await openDesk(task)
    const request = desk.mint(task, 'queue')
    await desk.commands.record(phone, request)
    await runTurn(desk.tasks, task)
    const writes = desk.disk.journalWrites
    const renewed = { ...phone, grant: '2'.repeat(64) }
    expect(await desk.commands.record(renewed, request)).toEqual({ state: 'held', priority: false })
    expect(desk.disk.journalWrites).toBe(writes)
    expect((await desk.tasks.show(task)).revision).toBe(5)
    expect((await desk.file()).entries[0]?.sender).toEqual(phone)
  })

  it('gives a duplicate that arrives meanwhile the same answer, and never before it is durable', async () => {
    const desk = await openDesk(task)
    await runTurn(desk.tasks, task)
    const request = desk.mint(task, 'send', 'Once.', { based_on: 5 })
    const answers = await Promise.all(Array.from({ length: 6 }, () => desk.commands.record(phone, request)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect((await desk.tasks.show(task)).follow_ups).toHaveLength(1)
    expect(desk.commands.entries()).toHaveLength(1)
  })

  for (const text of ['a\u001b[31m', 'a\u0000', ' \n ', 'x'.repeat(16_385)]) {
    it(`refuses at once a text that the store could never take: ${JSON.stringify(text.slice(0, 8))}`, async () => {
      const desk = await openDesk(task)
      await refused('bounds', desk.commands.record(phone, desk.mint(task, 'queue', text)))
      expect(desk.commands.entries()).toEqual([])
    })
  }

  it('is answered as received when the task cannot be read after it was recorded', async () => {
    const desk = await openDesk(task)
    let looks = 0
    const broken = {
      ...desk.tasks,
      async show(id: string) {
        looks += 1
        if (looks === 2) throw new Error('a disk that hiccups')
        return await desk.tasks.show(id)
      },
    }
    await desk.restart({ tasks: broken })
    expect(await desk.commands.record(phone, desk.mint(task, 'queue'))).toEqual({ state: 'received' })
    expect((await desk.file()).entries).toHaveLength(1)
    await desk.commands.evaluateAll()
    expect(desk.commands.entries()[0]?.state).toEqual({ state: 'held', priority: false })
  })
})

describe('a task that cannot be read or settled', () => {
  it('refuses as unavailable what cannot be read, and records nothing', async () => {
    const desk = await openDesk(task)
    const show = () => Promise.reject(new Refusal('corrupt_store', 'planted'))
    await desk.restart({ tasks: { ...desk.tasks, show } })
    await refused('unavailable', desk.commands.record(phone, desk.mint(task, 'queue')))
    expect(desk.commands.entries()).toEqual([])
  })

  it('takes the command all the same when the dead run cannot be settled', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    desk.settle = () => Promise.reject(new Refusal('store_busy', 'planted'))
    const state = await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop'))
    expect(state).toMatchObject({ outcome: 'applied' })
    expect(desk.lines.join('\n')).toContain('store_busy')
  })
})

describe('an interrupt', () => {
  it('cancels the running turn with its own text', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    const state = await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Wrong branch'))
    expect(state).toMatchObject({ outcome: 'applied' })
    const stopping = await desk.tasks.show(task)
    expect([stopping.status, stopping.cancellation_reason]).toEqual(['cancel_requested', 'Wrong branch'])
  })

  it('that finds its run gone is itself what ended it: applied', async () => {
    const desk = await openDesk(task)
    const running = await beginTurn(desk.tasks, task)
    desk.settle = (id) => settleGoneTurn(desk.tasks, id)
    const state = await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop', { based_on: 4 }))
    expect(state).toEqual({ state: 'done', outcome: 'applied', revision: running.revision + 1 })
    expect((await desk.tasks.show(task)).status).toBe('finished')
  })

  it('that arrives after its turn ended by itself is stale on the wire', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    desk.settle = async (id) => void (await endTurn(desk.tasks, id))
    const state = await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop'))
    expect(state).toEqual({ state: 'done', outcome: 'superseded' })
    expect(wireResult(state)).toEqual({ ok: false, code: 'stale' })
  })

  it('never touches a later turn', async () => {
    const desk = await openDesk(task)
    await runTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'send', 'Second turn.', { based_on: 5 }))
    await beginTurn(desk.tasks, task)
    const state = await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop', { based_on: 5 }))
    expect(state).toMatchObject({ outcome: 'superseded' })
    expect((await desk.tasks.show(task)).status).toBe('running')
  })

  it('is superseded by a newer one that is still undecided', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    const [first, second] = await Promise.all([
      desk.commands.record(phone, desk.mint(task, 'interrupt', 'One')),
      desk.commands.record(tablet, desk.mint(task, 'interrupt', 'Two')),
    ])
    // They meet only when both were recorded before the first was decided; else the second finds it stopping.
    expect([outcomeOf(first), outcomeOf(second)].sort()).toEqual(['applied', 'superseded'])
  })

  it('leaves queued messages alone: they run once the turn has stopped', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue', 'Later.'))
    await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop'))
    await endTurn(desk.tasks, task, { stop_requested: true, exit_code: null, ending: 'stopped by a signal' })
    await desk.commands.evaluate(task)
    expect((await desk.tasks.show(task)).follow_ups?.map((followUp) => followUp.prompt)).toEqual(['Later.'])
  })
})

function outcomeOf(state: Awaited<ReturnType<Desk['commands']['record']>>): string {
  return state.state === 'done' ? state.outcome : state.state
}
