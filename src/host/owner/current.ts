import { Refusal } from '../../protocol/refusal.ts'
import type { ExecutionGrant } from '../../store/tasks/grant.ts'
import type { Task } from '../../store/tasks/task.ts'

/**
 * Checks that a grant is for a task's current turn as it stands. Pure.
 * Refuses `invalid_transition` when the turn is not waiting to run, `revision_mismatch` when the grant was written
 * for another intent or revision.
 * @see spec/execution.md §4, step 4
 */
export function checkCurrent(task: Task, grant: ExecutionGrant): void {
  if (task.run !== undefined || task.status !== 'queued') {
    throw new Refusal(
      'invalid_transition',
      `task ${task.task_id} is ${task.status}; only a queued one can be run`,
    )
  }
  if (grant.intent_digest !== task.intent_digest) {
    throw new Refusal('revision_mismatch', 'the grant was written for another intent')
  }
  if (grant.expected_revision !== task.revision) {
    throw new Refusal(
      'revision_mismatch',
      `the grant is for revision ${grant.expected_revision}, the task is at ${task.revision}`,
    )
  }
}
