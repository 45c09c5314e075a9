import { describe, expect, it } from 'vitest'
import { type Desk, openDesk, phone, tablet } from '../support/command-desk.ts'
import { beginTurn, endTurn, runTurn, steering } from '../support/turns.ts'

const task = 'task-1'
const day = 86_400_000
const emulating = steering({ emulation: 'cancel_and_continue' })

describe('held messages', () => {
  it('run one a turn, in the order they were sent, each once', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    for (const text of ['One.', 'Two.', 'Three.']) {
      await desk.commands.record(phone, desk.mint(task, 'queue', text))
    }
    await endTurn(desk.tasks, task)
    for (let turn = 0; turn < 4; turn += 1) {
      await desk.commands.evaluate(task)
      if ((await desk.tasks.show(task)).status === 'queued') await runTurn(desk.tasks, task)
    }
    expect(await prompts(desk)).toEqual(['One.', 'Two.', 'Three.'])
    expect(states(desk)).toEqual(['applied', 'applied', 'applied'])
  })

  it('leave the running turn alone', async () => {
    const desk = await openDesk(task)
    const running = await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    expect(await desk.tasks.show(task)).toEqual(running)
  })

  it('with priority run before the others, and a steer carries its own text', async () => {
    const desk = await openDesk(task)
    await runTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'send', 'Second turn.', { based_on: 5 }))
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue', 'Later.', { based_on: 6 }))
    // It speaks of the first turn, which is over: it waits for a turn of its own, first in line.
    await desk.commands.record(phone, desk.mint(task, 'steer', 'First.', { based_on: 2 }))
    await endTurn(desk.tasks, task)
    await desk.commands.evaluate(task)
    expect((await prompts(desk)).at(-1)).toBe('First.')
  })

  it('hold back a send that comes as the turn ends', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue', 'Later.'))
    await endTurn(desk.tasks, task)
    const state = await desk.commands.record(phone, desk.mint(task, 'send', 'Now.', { based_on: 5 }))
    expect(state).toMatchObject({ outcome: 'rejected', reason: 'conflict' })
    expect(await prompts(desk)).toEqual(['Later.'])
  })

  it('of a revoked sender never run, and give way', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue', 'From the phone.'))
    await desk.commands.record(tablet, desk.mint(task, 'queue', 'From the tablet.'))
    await endTurn(desk.tasks, task)
    desk.revoked.add(phone.device)
    await desk.commands.evaluateAll()
    expect(await prompts(desk)).toEqual(['From the tablet.'])
    expect(desk.commands.entries()[0]?.state).toEqual({
      state: 'done',
      outcome: 'rejected',
      reason: 'revoked',
    })
  })

  it('expire after 24 hours', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    desk.clock.jump(day + 1_000)
    await desk.commands.evaluate(task)
    await endTurn(desk.tasks, task)
    await desk.commands.evaluate(task)
    expect(states(desk)).toEqual(['expired'])
    expect(await prompts(desk)).toEqual([])
  })

  it('are turned away from an archived task', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    desk.archived.add(task)
    await endTurn(desk.tasks, task)
    await desk.commands.evaluate(task)
    expect(desk.commands.entries()[0]?.state).toMatchObject({ reason: 'conflict' })
  })

  it('are started by the sweep too, within 5 s, when nobody told of the end of the turn', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue', 'Later.'))
    await endTurn(desk.tasks, task)
    await desk.clock.advance(5_000)
    await desk.commands.evaluate(task)
    expect(await prompts(desk)).toEqual(['Later.'])
  })

  it('are at most 64 a task: the next is refused as bounds', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    const sent = Array.from({ length: 64 }, () => desk.commands.record(phone, desk.mint(task, 'queue')))
    for (const state of await Promise.all(sent)) expect(state.state).toBe('held')
    const state = await desk.commands.record(tablet, desk.mint(task, 'queue'))
    expect(state).toEqual({ state: 'done', outcome: 'rejected', reason: 'bounds' })
  })
})

describe('an emulated steer', () => {
  it('stops the turn, then runs its text as the next one', async () => {
    const desk = await openDesk(task)
    desk.engine = emulating
    await beginTurn(desk.tasks, task)
    const steer = desk.mint(task, 'steer', 'Stop at chapter 2.', { based_on: 4, emulate: true })
    expect(await desk.commands.record(phone, steer)).toEqual({ state: 'held', priority: true })
    expect((await desk.tasks.show(task)).status).toBe('cancel_requested')
    await endTurn(desk.tasks, task, { exit_code: null, ending: 'stopped by a signal' })
    await desk.commands.evaluate(task)
    expect(await prompts(desk)).toEqual(['Stop at chapter 2.'])
    expect(states(desk)).toEqual(['applied'])
  })

  it('without emulation asked is refused as unsupported, and the turn goes on', async () => {
    const desk = await openDesk(task)
    desk.engine = emulating
    await beginTurn(desk.tasks, task)
    const state = await desk.commands.record(phone, desk.mint(task, 'steer', 'Now.', { based_on: 4 }))
    expect(state).toMatchObject({ reason: 'unsupported' })
    expect((await desk.tasks.show(task)).status).toBe('running')
  })

  it('on a task that has not started yet only corrects its prompt', async () => {
    const desk = await openDesk(task)
    const state = await desk.commands.record(phone, desk.mint(task, 'steer', 'Keep the dates.'))
    expect(state).toEqual({ state: 'done', outcome: 'applied', revision: 2 })
    expect((await desk.tasks.show(task)).corrections).toEqual([
      { revision: 2, prompt: 'Keep the dates.', reason: 'Steered by an enrolled device' },
    ])
  })
})

describe('an answer', () => {
  it('continues the turn that asked; every later one is stale', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await endTurn(desk.tasks, task, { ending: 'asked_question' })
    const first = await desk.commands.record(phone, desk.mint(task, 'answer', 'Yes.', { based_on: 5 }))
    expect(first).toMatchObject({ outcome: 'applied' })
    const second = await desk.commands.record(tablet, desk.mint(task, 'answer', 'No.', { based_on: 5 }))
    expect(second).toMatchObject({ reason: 'stale' })
    expect(await prompts(desk)).toEqual(['Yes.'])
  })

  it('to a question that nobody asked is a conflict', async () => {
    const desk = await openDesk(task)
    await runTurn(desk.tasks, task)
    const state = await desk.commands.record(phone, desk.mint(task, 'answer', 'Yes.', { based_on: 5 }))
    expect(state).toMatchObject({ reason: 'conflict' })
  })
})

describe('an unknown task', () => {
  it('never starts anything: messages wait, everything else is refused as unavailable', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await endTurn(desk.tasks, task, { group_clear: false })
    for (const kind of ['send', 'steer', 'interrupt', 'answer'] as const) {
      const state = await desk.commands.record(phone, desk.mint(task, kind, 'x', { based_on: 5 }))
      expect(state).toMatchObject({ reason: 'unavailable' })
    }
    expect(await desk.commands.record(phone, desk.mint(task, 'queue'))).toMatchObject({ state: 'held' })
    expect(await prompts(desk)).toEqual([])
  })
})

async function prompts(desk: Desk): Promise<string[]> {
  return (await desk.tasks.show(task)).follow_ups?.map((followUp) => followUp.prompt) ?? []
}

function states(desk: Desk): string[] {
  return desk.commands.entries().map(({ state }) => (state.state === 'done' ? state.outcome : state.state))
}
