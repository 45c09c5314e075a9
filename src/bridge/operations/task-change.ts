import { sha256Hex } from '../../protocol/digest.ts'
import { nowSeconds } from '../../seams/clock.ts'
import { taskCommandSchemaName } from '../../store/tasks/command.ts'
import { type Asking, checkPrompt, keyOf, sideOf, type TaskContext } from './context.ts'

/** The reason that the store keeps of a device's correction. It is replayed state, so its words are fixed. */
const steerReason = 'Steered by an enrolled device'
const archiveReason = 'Archived by an enrolled device'

/** The store's `correct`, once for each request. Refuses what the store refuses. @see spec/wire.md §6 */
export async function steerTask(
  context: TaskContext,
  asking: Asking,
  asked: { task: string; revision: number; prompt: string },
): Promise<void> {
  checkPrompt(asked.prompt)
  const action = { type: 'correct', prompt: asked.prompt, reason: steerReason }
  await context.tasks.apply(commandBytes('steer', asking, asked.task, asked.revision, action), sideOf(asking))
}

/** The store's `cancel`, once for each request; a run whose owner is gone is ended first. */
export async function cancelTask(
  context: TaskContext,
  asking: Asking,
  asked: { task: string; revision: number; reason: string },
): Promise<void> {
  await context.core.settle(asked.task).catch(() => null)
  const action = { type: 'cancel', reason: asked.reason }
  await context.tasks.apply(
    commandBytes('cancel', asking, asked.task, asked.revision, action),
    sideOf(asking),
  )
}

/** Hides an ended task from devices, and ends what waits for it; one that is hidden already stays so. */
export async function archiveTask(context: TaskContext, asking: Asking, task: string): Promise<void> {
  const { principal } = asking
  const by =
    principal.kind === 'device'
      ? ({ kind: 'device', key: keyOf(principal, asking.signer) } as const)
      : ({ kind: 'owner' } as const)
  await context.archive.archive(task, archiveReason, by, nowSeconds(context.clock))
  context.changed(task)
}

/** The command's ID follows from the signer and the request alone, so asking again is an exact retry. */
function commandBytes(
  verb: 'steer' | 'cancel',
  asking: Asking,
  task: string,
  revision: number,
  action: object,
): Uint8Array {
  const key = sha256Hex(`${asking.signer}:${asking.request}`).slice(0, 48)
  return new TextEncoder().encode(
    JSON.stringify({
      schema: taskCommandSchemaName,
      command_id: `${verb}-${key}`,
      task_id: task,
      expected_revision: revision,
      action,
    }),
  )
}
