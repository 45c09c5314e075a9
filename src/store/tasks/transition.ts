import { turnsMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { TaskAction, TaskCommand } from './command.ts'
import { turnOf } from './derived.ts'
import { type Intent, intentDigest } from './intent.ts'
import type { Task } from './task.ts'
import { correctedWhileRunning } from './words.ts'

/**
 * What a command makes of a task. Pure: the same task and command always give the same task.
 * @param task null when there is none yet
 * @throws `not_found`, `revision_mismatch` (before the state is looked at), `invalid_transition`, and
 * `limit_exceeded` for a turn past the last
 * @see spec/store.md §3
 */
export function applyCommand(task: Task | null, command: TaskCommand): Task {
  const { action } = command
  if (action.type === 'submit') {
    if (task !== null) throw new Refusal('invalid_transition', 'the task exists already')
    return submitted(command.task_id, action.intent)
  }
  if (task === null) throw new Refusal('not_found', 'no such task')
  if (command.expected_revision !== task.revision) {
    throw new Refusal('revision_mismatch', `the task is at revision ${task.revision}`)
  }
  return moved(task, action)
}

/** The same task with its keys in stored order, and without the optional ones that are not set. */
export function inOrder(task: Task): Task {
  return {
    task_id: task.task_id,
    revision: task.revision,
    intent: task.intent,
    intent_digest: task.intent_digest,
    status: task.status,
    execution: task.execution,
    checks: task.checks,
    cancellation_reason: task.cancellation_reason,
    ...(task.corrections && { corrections: task.corrections }),
    ...(task.run && { run: task.run }),
    ...(task.follow_ups && { follow_ups: task.follow_ups }),
    ...(task.earlier && { earlier: task.earlier }),
  }
}

function moved(task: Task, action: Exclude<TaskAction, { type: 'submit' }>): Task {
  switch (action.type) {
    case 'cancel':
      return cancelled(task, action.reason)
    case 'correct':
      return corrected(task, action.prompt, action.reason)
    case 'continue':
      return continued(task, action.prompt)
  }
}

function submitted(taskId: string, intent: Intent): Task {
  return {
    task_id: taskId,
    revision: 1,
    intent,
    intent_digest: intentDigest(intent),
    status: 'queued',
    execution: 'not_started',
    checks: 'not_run',
    cancellation_reason: null,
  }
}

function cancelled(task: Task, reason: string): Task {
  if (task.status !== 'queued' && task.status !== 'running') {
    throw new Refusal('invalid_transition', `a task that is ${task.status} cannot be cancelled`)
  }
  return {
    ...task,
    revision: task.revision + 1,
    status: task.status === 'queued' ? 'cancelled' : 'cancel_requested',
    cancellation_reason: reason,
  }
}

function corrected(task: Task, prompt: string, reason: string): Task {
  const revision = task.revision + 1
  const stops = task.status === 'running'
  return inOrder({
    ...task,
    revision,
    status: stops ? 'cancel_requested' : task.status,
    checks: task.run !== undefined && task.checks !== 'running' ? 'disputed' : task.checks,
    cancellation_reason: stops ? correctedWhileRunning : task.cancellation_reason,
    corrections: [...(task.corrections ?? []), { revision, prompt, reason }],
  })
}

function continued(task: Task, prompt: string): Task {
  const ended = task.status === 'finished' || task.status === 'cancelled'
  if (!ended || task.checks === 'running') {
    throw new Refusal('invalid_transition', 'only a task that has ended can be continued')
  }
  if (turnOf(task) >= turnsMax) throw new Refusal('limit_exceeded', `a task has at most ${turnsMax} turns`)
  const { run, earlier, ...rest } = task
  const runs = [...(earlier ?? []), ...(run ? [run] : [])]
  const revision = task.revision + 1
  return inOrder({
    ...rest,
    revision,
    status: 'queued',
    execution: 'not_started',
    checks: 'not_run',
    cancellation_reason: null,
    follow_ups: [...(task.follow_ups ?? []), { revision, prompt }],
    ...(runs.length > 0 && { earlier: runs }),
  })
}
