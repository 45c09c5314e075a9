import { describe, expect, it } from 'vitest'
import type { EntryState } from '../../src/commands/journal-entry.ts'
import { Refusal, type RefusalCode } from '../../src/protocol/refusal.ts'
import type { TaskStore } from '../../src/store/tasks/store.ts'
import { type Desk, openDesk, phone } from '../support/command-desk.ts'
import { beginTurn, endTurn, ownerCommand } from '../support/turns.ts'

const task = 'task-1'

describe('what the store says', () => {
  const table: [RefusalCode, EntryState][] = [
    ['invalid_transition', { state: 'done', outcome: 'rejected', reason: 'conflict' }],
    ['command_conflict', { state: 'done', outcome: 'rejected', reason: 'conflict' }],
    ['not_found', { state: 'done', outcome: 'rejected', reason: 'missing' }],
    ['limit_exceeded', { state: 'done', outcome: 'rejected', reason: 'bounds' }],
    ['invalid_command', { state: 'done', outcome: 'rejected', reason: 'bounds' }],
    ['revision_mismatch', { state: 'done', outcome: 'rejected', reason: 'stale' }],
  ]
  for (const [code, state] of table) {
    it(`${code} ends the command as ${JSON.stringify(state)}, durably`, async () => {
      const desk = await openDesk(task)
      await desk.restart({ tasks: refusing(desk.tasks, code) })
      expect(await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop'))).toEqual(state)
      expect((await desk.file()).entries[0]?.state).toEqual(state)
    })
  }

  for (const code of ['io', 'store_busy', 'reopen_required', 'corrupt_store'] as const) {
    it(`${code} is no outcome: the recorded bytes are finished later`, async () => {
      const desk = await openDesk(task)
      await desk.restart({ tasks: refusing(desk.tasks, code) })
      const state = await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop'))
      expect(state.state).toBe('dispatching')
      await desk.restart()
      await desk.commands.evaluateAll()
      expect(states(desk)).toEqual(['applied'])
      expect((await desk.tasks.show(task)).status).toBe('cancelled')
    })
  }

  it('a revision that moved meanwhile is decided again', async () => {
    const desk = await openDesk(task)
    let moved = false
    const moving: TaskStore = {
      ...desk.tasks,
      async apply(bytes) {
        if (!moved) await beginTurn(desk.tasks, task)
        moved = true
        return await desk.tasks.apply(bytes)
      },
    }
    await desk.restart({ tasks: moving })
    const state = await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop'))
    expect(state).toEqual({ state: 'done', outcome: 'applied', revision: 5 })
  })

  it('a task that is gone ends its commands as missing', async () => {
    const desk = await openDesk(task)
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    const gone = { ...desk.tasks, show: async () => Promise.reject(new Refusal('not_found', 'gone')) }
    await desk.restart({ tasks: gone })
    await desk.commands.evaluateAll()
    expect(desk.commands.entries()[0]?.state).toMatchObject({ reason: 'missing' })
  })

  it('a turn that the owner continued meanwhile keeps the message waiting', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue', 'Later.'))
    await endTurn(desk.tasks, task)
    await ownerCommand(desk.tasks, task, { type: 'continue', prompt: 'By the owner.' })
    await desk.commands.evaluate(task)
    expect(states(desk)).toEqual(['held'])
  })
})

function refusing(tasks: TaskStore, code: RefusalCode): TaskStore {
  return { ...tasks, apply: () => Promise.reject(new Refusal(code, 'planted')) }
}

function states(desk: Desk): string[] {
  return desk.commands.entries().map(({ state }) => (state.state === 'done' ? state.outcome : state.state))
}
