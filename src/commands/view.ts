import { turnStart } from '../store/tasks/derived.ts'
import type { Task } from '../store/tasks/task.ts'

/**
 * Where a task is, as far as a command cares: `pending` is queued; `stopping` has a stop requested, or has ended with
 * its checks still running; `unknown` never starts anything.
 */
export type Phase = 'pending' | 'running' | 'stopping' | 'ended' | 'unknown'

/** What a decision sees of a task. */
export interface TaskView {
  readonly phase: Phase
  readonly revision: number
  /** The revision that the current turn began at. */
  readonly turnStarted: number
  /** What the ended turn asked, while nobody answered. */
  readonly question: 'question' | 'approval' | null
  /** A live edit lease exists. */
  readonly paused: boolean
  readonly archived: boolean
}

/** The view of a task. Pure. @see spec/commands.md §3 */
export function taskView(task: Task, around: { paused: boolean; archived: boolean }): TaskView {
  return {
    phase: phaseOf(task),
    revision: task.revision,
    turnStarted: turnStart(task),
    question: questionOf(task),
    paused: around.paused,
    archived: around.archived,
  }
}

/** The phase of a task. @see spec/commands.md §3 */
export function phaseOf(task: Task): Phase {
  switch (task.status) {
    case 'queued':
      return 'pending'
    case 'running':
      return 'running'
    case 'cancel_requested':
      return 'stopping'
    case 'finished':
    case 'cancelled':
      return task.checks === 'running' ? 'stopping' : 'ended'
    case 'unknown':
      return 'unknown'
  }
}

/** What the current run asked at its end: any continuation ends the wait. @see spec/turns.md §5 */
function questionOf(task: Task): TaskView['question'] {
  if (task.status !== 'finished') return null
  switch (task.run?.result?.ending) {
    case 'asked_question':
      return 'question'
    case 'asked_approval':
      return 'approval'
    default:
      return null
  }
}
