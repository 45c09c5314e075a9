import type { TaskStore } from '../../../src/store/tasks/store.ts'
import type { RunResult } from '../../../src/store/tasks/task.ts'
import { admitted, cancel, correct, effectIntent, goOn, resultEvent, runThrough, submit } from './samples.ts'

const digest = 'd'.repeat(64)
const stopped: Partial<RunResult> = { ending: 'stopped by a signal', exit_code: null, stop_requested: true }
const orphaned: Partial<RunResult> = { ending: 'owner_process_ended', exit_code: null }

/**
 * Gives a task a history with every kind of record and every way in which a run ends; it ends with a correction to a
 * run whose processes may still live.
 */
export async function richHistory(store: TaskStore, taskId: string): Promise<void> {
  const revision = async () => (await store.show(taskId)).revision
  const next = async () => {
    await store.apply(goOn(taskId, await revision()))
  }
  await store.apply(submit(taskId))
  await store.apply(correct(taskId, 1))
  await runThrough(store, taskId, {
    cost_status: 'priced',
    cost_microusd: 3,
    engine_microusd: 1,
    jev_microusd: 2,
  })
  await next()
  await runThrough(store, taskId, {
    ending: 'exit 1',
    exit_code: 1,
    artifact_file: `manifest-${digest}.json`,
    artifact_digest: `sha256:${digest}`,
  })
  await next()
  await store.apply(cancel(taskId, await revision()))
  await next()
  await begun(store, taskId)
  await store.apply(cancel(taskId, await revision()))
  await store.record(taskId, resultEvent(stopped), 1)
  await next()
  await begun(store, taskId)
  await store.apply(correct(taskId, await revision()))
  await store.record(taskId, resultEvent({ ...stopped, cost_status: 'partial', engine_microusd: 1 }), 1)
  await next()
  await begun(store, taskId)
  await store.record(taskId, { type: 'owner_lost' }, 2)
  await store.record(taskId, resultEvent(orphaned), 2)
  await next()
  await runThrough(store, taskId, { group_clear: false, output_incomplete: true })
  await store.apply(correct(taskId, await revision()))
}

async function begun(store: TaskStore, taskId: string): Promise<void> {
  const running = await store.record(taskId, admitted(await store.show(taskId)), 1)
  await store.record(taskId, effectIntent(running), 1)
  await store.record(taskId, { type: 'spawned', process_id: 4_242 }, 1)
}
