import type { NoteOf } from '../../host/autostart/planner.ts'
import { type Attention, failedHeadline, type Phase } from '../../protocol/bodies/activity-summary.ts'
import type { TaskItem } from '../../protocol/task-pages.ts'
import { turnOf, turnStart } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { TaskContext } from './context.ts'

/**
 * A task as devices see it.
 * @param label of its workspace
 * @param changedNs when it last changed, Unix nanoseconds; null when that is not known
 * @param noteOf says why it waits, when it does
 */
export function taskItem(
  context: Pick<TaskContext, 'core'>,
  task: Task,
  label: string,
  changedNs: bigint | null,
  noteOf: NoteOf,
): TaskItem {
  const { native, emulation } = context.core.steeringOf(task)
  const { phase, attention } = standingOf(task)
  return {
    task: task.task_id,
    title: task.intent.title,
    workspace: label,
    revision: task.revision,
    status: task.status,
    phase,
    attention,
    turn: turnOf(task),
    turn_start_revision: turnStart(task),
    updated_at: Number((changedNs ?? 0n) / 1_000_000_000n),
    steering: { native, emulation },
    note: noteOf(task, changedNs),
    run_tasks: [],
  }
}

/**
 * The phase of a task and what it wants of a person. Pure.
 * @see spec/wire.md §5, spec/turns.md §5
 */
export function standingOf(task: Task): { phase: Phase; attention: Attention } {
  switch (task.status) {
    case 'queued':
      return { phase: 'queued', attention: 'none' }
    case 'running':
    case 'cancel_requested':
      return { phase: 'running', attention: 'none' }
    case 'cancelled':
      return { phase: 'cancelled', attention: 'none' }
    case 'unknown':
      return { phase: 'unknown', attention: 'none' }
    case 'finished':
      return finishedStanding(task)
  }
}

/**
 * What a summary says of a task, in our words: never text from a device or a command. Pure.
 * @see spec/wire.md §5
 */
export function headlineOf(task: Task): string {
  const { phase, attention } = standingOf(task)
  if (task.status === 'cancel_requested') return 'Task stopping'
  if (phase === 'waiting') return attention === 'approval' ? 'Asked for approval' : 'Asked a question'
  return headlines[phase]
}

const headlines: { readonly [P in Exclude<Phase, 'waiting'>]: string } = {
  queued: 'Task queued',
  running: 'Task running',
  completed: 'Task finished',
  failed: failedHeadline,
  cancelled: 'Task cancelled',
  unknown: 'Task state unknown',
}

function finishedStanding(task: Task): { phase: Phase; attention: Attention } {
  const ending = task.run?.result?.ending
  if (ending === 'asked_question') return { phase: 'waiting', attention: 'input' }
  if (ending === 'asked_approval') return { phase: 'waiting', attention: 'approval' }
  if (task.execution === 'stopped') return { phase: 'cancelled', attention: 'none' }
  if (task.execution === 'failed') return { phase: 'failed', attention: 'failed' }
  return { phase: 'completed', attention: 'completed' }
}

/** Whether devices see the task at all: local ones, whose ID is not 64 hex, stay local. */
export function isVisible(task: Task): boolean {
  return /^[0-9a-f]{64}$/.test(task.task_id)
}
