import { describe, expect, it } from 'vitest'
import type { CommandRequest } from '../../src/commands/journal-entry.ts'
import type { TaskStore } from '../../src/store/tasks/store.ts'
import { type Desk, openDesk, phone } from '../support/command-desk.ts'
import { beginTurn, endTurn, runTurn, steering } from '../support/turns.ts'

const task = 'task-1'
const day = 86_400_000

describe('a crash after the effect was recorded and before the store accepted it', () => {
  it('replays the exact bytes: one effect, the same ID', async () => {
    const { desk, bytes } = await cutOffBeforeTheStore()
    await desk.restart()
    await desk.commands.evaluateAll()
    expect(state(desk)).toEqual({ state: 'done', outcome: 'applied', revision: 6 })
    const receipt = await desk.tasks.receiptFor(new TextEncoder().encode(bytes))
    expect(receipt?.revision).toBe(6)
    expect((await desk.tasks.show(task)).follow_ups).toEqual([{ revision: 6, prompt: 'Next.' }])
    expect(desk.continued).toEqual([task])
  })

  it('is finished first, also when a replay of the command comes', async () => {
    const { desk, request } = await cutOffBeforeTheStore()
    await desk.restart()
    // Nothing is evaluated for a replay; the sweep does it.
    expect((await desk.commands.record(phone, request)).state).toBe('dispatching')
    await desk.clock.advance(5_000)
    await desk.commands.evaluate(task)
    expect(await desk.commands.record(phone, request)).toMatchObject({ outcome: 'applied' })
  })

  it('ends it as revoked when the sender no longer stands', async () => {
    const { desk } = await cutOffBeforeTheStore()
    desk.revoked.add(phone.device)
    await desk.restart()
    await desk.commands.evaluateAll()
    expect(state(desk)).toEqual({ state: 'done', outcome: 'rejected', reason: 'revoked' })
    expect((await desk.tasks.show(task)).follow_ups).toBeUndefined()
  })

  it('ends it as expired when its time has passed', async () => {
    const { desk } = await cutOffBeforeTheStore()
    desk.clock.jump(day + 1_000)
    await desk.restart()
    await desk.commands.evaluateAll()
    expect(state(desk)).toEqual({ state: 'done', outcome: 'expired' })
    expect((await desk.tasks.show(task)).revision).toBe(5)
  })

  it('decides it again when the task has moved on', async () => {
    const { desk } = await cutOffBeforeTheStore('queue')
    await desk.tasks.apply(continueBytes(5))
    await desk.restart()
    await desk.commands.evaluateAll()
    expect(state(desk)).toEqual({ state: 'held', priority: false })
  })
})

describe('a crash after the store accepted it and before that was marked', () => {
  for (const [what, act] of [
    ['', () => {}],
    [', though the sender is revoked by now', (desk: Desk) => void desk.revoked.add(phone.device)],
    [', though its time has passed by now', (desk: Desk) => desk.clock.jump(day + 1_000)],
  ] as const) {
    it(`gives the first receipt again${what}`, async () => {
      const desk = await openDesk(task)
      await runTurn(desk.tasks, task)
      await desk.commands.record(phone, desk.mint(task, 'send', 'Next.', { based_on: 5 }))
      const accepted = await desk.tasks.show(task)
      expect((await desk.file()).entries[0]?.state.state).toBe('dispatching')
      act(desk)
      await desk.restart()
      await desk.commands.evaluateAll()
      expect(state(desk)).toEqual({ state: 'done', outcome: 'applied', revision: 6 })
      expect(await desk.tasks.show(task)).toEqual(accepted)
    })
  }

  it('of the stop of an emulated steer leads to its text once, as the next turn', async () => {
    const desk = await openDesk(task)
    desk.engine = steering({ emulation: 'cancel_and_continue' })
    await beginTurn(desk.tasks, task)
    const steer = desk.mint(task, 'steer', 'Stop at chapter 2.', { based_on: 4, emulate: true })
    await desk.commands.record(phone, steer)
    expect((await desk.file()).entries[0]?.state).toMatchObject({ state: 'dispatching', then_hold: true })
    await desk.restart()
    await endTurn(desk.tasks, task)
    await desk.commands.evaluateAll()
    await desk.commands.evaluateAll()
    expect((await desk.tasks.show(task)).follow_ups?.map((followUp) => followUp.prompt)).toEqual([
      'Stop at chapter 2.',
    ])
  })
})

function state(desk: Desk) {
  return desk.commands.entries()[0]?.state
}

/** A command whose effect is in the journal and never reached the store. */
async function cutOffBeforeTheStore(
  kind: 'send' | 'queue' = 'send',
): Promise<{ desk: Desk; request: CommandRequest; bytes: string }> {
  const desk = await openDesk(task)
  await runTurn(desk.tasks, task)
  let reached = () => {}
  const called = new Promise<void>((resolve) => {
    reached = resolve
  })
  const cut: TaskStore = {
    ...desk.tasks,
    apply() {
      reached()
      return new Promise(() => {})
    },
  }
  await desk.restart({ tasks: cut })
  const request = desk.mint(task, kind, 'Next.', { based_on: 5 })
  void desk.commands.record(phone, request)
  await called
  const recorded = (await desk.file()).entries[0]?.state
  if (recorded?.state !== 'dispatching') throw new Error('the effect is not recorded')
  return { desk, request, bytes: recorded.bytes }
}

function continueBytes(revision: number): Uint8Array {
  const command = {
    schema: 'openagents.coder.task-command.v1',
    command_id: 'by-the-owner',
    task_id: task,
    expected_revision: revision,
    action: { type: 'continue', prompt: 'By the owner.' },
  }
  return new TextEncoder().encode(JSON.stringify(command))
}
