import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { id } from '../support/access.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome } from '../support/results.ts'
import { recordTurn } from '../support/turn-elsewhere.ts'

const phone = testKey(13)

async function held(bridge: QuietBridge): Promise<string> {
  await bridge.enroll(phone)
  const create: Operation = {
    kind: 'task.create',
    task: { title: 'Wake', prompt: 'Sort the entries.', workspace: 'site' },
  }
  const task = outcome(await bridge.ask(phone, create), 'dispatched').receipt.reference
  const command: Operation = {
    kind: 'task.command',
    command: {
      command: id(0x11),
      task,
      action: 'queue',
      based_on: 1,
      text: 'And then the index.',
      emulate: false,
      issued_at: nowSeconds(bridge.clock),
    },
  }
  outcome(await bridge.ask(phone, command), 'dispatched')
  return task
}

describe('a turn that another process ends', () => {
  it('starts the next held message at once, with no sweep', async () => {
    const bridge = await quietBridge()
    const task = await held(bridge)
    await recordTurn(bridge.home, task)
    await expect
      .poll(async () => (await bridge.operator.commands({ task, from: 0 })).entries[0]?.state)
      .toMatchObject({ state: 'done', outcome: 'applied' })
    const query = { workspace: 'site', task, revision: null, cursor: null, limit: 1 }
    const read = outcome(await bridge.ask(phone, { kind: 'task.read', query }), 'task').task
    expect(read).toMatchObject({ turn: 2, phase: 'queued', turn_start_revision: 6 })
    await bridge.stop()
  })

  it('while no service runs, is found at its next start', async () => {
    const bridge = await quietBridge()
    const task = await held(bridge)
    await bridge.stop()
    await recordTurn(bridge.home, task)
    await bridge.start()
    const page = await bridge.operator.commands({ task, from: 0 })
    expect(page.entries[0]?.state).toMatchObject({ state: 'done', outcome: 'applied' })
    await bridge.stop()
  })
})
