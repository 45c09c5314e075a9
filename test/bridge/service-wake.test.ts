import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { turnOf } from '../../src/store/tasks/derived.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import { id } from '../support/access.ts'
import { madeUpAdmission } from '../support/host-stage.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome } from '../support/results.ts'

const phone = testKey(13)

/** Runs the task's turn as an owner in another process would record it. */
async function recordTurn(bridge: QuietBridge, taskId: string): Promise<void> {
  const tasks = await openTaskStore(realDisk, systemClock, `${bridge.home}/tasks`)
  const owner = await realDisk.lock(tasks.ownerLockPath(taskId), 0, { create: true })
  const task = await tasks.show(taskId)
  const admission = madeUpAdmission(task, task.intent.workspace.path)
  const effect_id = `${taskId}:${turnOf(task)}:command`
  await tasks.record(taskId, { type: 'admitted', admission }, 1, owner)
  await tasks.record(taskId, { type: 'effect_intent', effect_id }, 1, owner)
  await tasks.record(
    taskId,
    {
      type: 'result',
      result: {
        ending: 'exit 0',
        exit_code: 0,
        stop_requested: false,
        group_clear: true,
        elapsed_ms: 10,
        trace_digest: `sha256:${'0'.repeat(64)}`,
        candidate_snapshot: null,
        artifact_file: null,
        artifact_digest: null,
        output_incomplete: false,
        cost_status: 'unknown',
      },
    },
    1,
    owner,
  )
  await owner.release()
  await tasks.close()
}

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
    await recordTurn(bridge, task)
    await expect
      .poll(async () => (await bridge.operator.commands({ task, from: 0 })).entries[0]?.state)
      .toMatchObject({ state: 'done', outcome: 'applied' })
    const query = { workspace: 'site', task, revision: null, cursor: null, limit: 1 }
    const read = outcome(await bridge.ask(phone, { kind: 'task.read', query }), 'task').task
    expect(read).toMatchObject({ turn: 2, phase: 'queued', turn_start_revision: 5 })
    await bridge.stop()
  })

  it('while no service runs, is found at its next start', async () => {
    const bridge = await quietBridge()
    const task = await held(bridge)
    await bridge.stop()
    await recordTurn(bridge, task)
    await bridge.start()
    const page = await bridge.operator.commands({ task, from: 0 })
    expect(page.entries[0]?.state).toMatchObject({ state: 'done', outcome: 'applied' })
    await bridge.stop()
  })
})
