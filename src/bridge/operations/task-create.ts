import { createsPerHourMax } from '../../limits.ts'
import type { NewTask } from '../../protocol/operations/tasks.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { deviceTaskId } from '../../protocol/task-id.ts'
import { type TaskCommand, taskCommandSchemaName } from '../../store/tasks/command.ts'
import { boundedCommand } from '../../store/tasks/words.ts'
import { type Asking, checkPrompt, sideOf, type TaskContext } from './context.ts'

/**
 * Creates the one task that this request can create. The same request again, after a restart too, finds it, also in a
 * store that was put aside: equal title and prompt are success, others `conflict`.
 *
 * Also refuses `forbidden` for a label that this host does not have, `rate_limited` past 60 an hour of one device, and
 * what the store refuses, such as `limit_exceeded` when only the owner's share of it is left.
 * @returns the task's ID
 * @see spec/wire.md §6
 */
export async function createTask(context: TaskContext, asking: Asking, asked: NewTask): Promise<string> {
  checkPrompt(asked.prompt)
  const task = deviceTaskId(asking.signer, asking.request)
  const first = await context.tasks.submitRequest(task)
  if (first !== null) refuseUnlessSame(first, asked)
  else {
    const retired = await context.tasks.retiredSubmitRequest(task)
    if (retired !== null) {
      refuseUnlessSame(retired, asked)
      return task
    }
    const workspace = context.settings().workspaces.find((kept) => kept.label === asked.workspace)
    if (workspace === undefined) throw new Refusal('forbidden', 'no workspace has this label')
    if (asking.principal.kind === 'device' && !context.mayCreate(asking.signer)) {
      throw new Refusal('rate_limited', `a device creates at most ${createsPerHourMax} tasks an hour`)
    }
    await context.tasks.apply(submitBytes(task, asked, workspace.path), sideOf(asking))
  }
  void context.core.plan(task, asking.principal.kind === 'device' ? asking.signer : undefined)
  return task
}

function refuseUnlessSame({ action }: TaskCommand, asked: NewTask): void {
  const same =
    action.type === 'submit' && action.intent.title === asked.title && action.intent.prompt === asked.prompt
  if (!same) throw new Refusal('conflict', 'this request created another task')
}

function submitBytes(task: string, asked: NewTask, path: string): Uint8Array {
  const command = {
    schema: taskCommandSchemaName,
    command_id: `create-${task.slice(0, 48)}`,
    task_id: task,
    expected_revision: null,
    action: {
      type: 'submit',
      intent: {
        title: asked.title,
        prompt: asked.prompt,
        workspace: { path, source_revision: null },
        configuration: { adapter: boundedCommand, model: null },
      },
    },
  }
  return new TextEncoder().encode(JSON.stringify(command))
}
