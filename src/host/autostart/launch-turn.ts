import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import { sha256Digest } from '../../store/digest.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { HostCoreDeps } from '../core.ts'
import { draftGrant } from '../grant-draft.ts'
import { isDiskFull } from '../owner/recorder.ts'
import { startTask } from '../start.ts'
import type { LaunchedOwner } from '../supervise/launch-owner.ts'
import { type AutostartPolicy, standingGrantPath } from './policy.ts'

export type LaunchedTurn =
  | { readonly is: 'launched'; readonly owner: LaunchedOwner; readonly grantDigest: string }
  | { readonly is: 'refused'; readonly detail: string }
  | { readonly is: 'later' }

/**
 * Writes the grant that a policy gives a task's current turn and launches its owner.
 * @returns `later` for what only has to be tried again; never throws a refusal
 * @see spec/execution.md §13, sweep step 5
 */
export async function launchTurn(
  deps: HostCoreDeps,
  policy: AutostartPolicy,
  task: Task,
): Promise<LaunchedTurn> {
  const bytes = encoder.encode(draftGrant(task, policy.engine).text)
  try {
    await deps.disk.makeDirectory(`${deps.home}/host/autostart`)
    await deps.disk.replace(standingGrantPath(deps.home, task.task_id, task.revision), bytes)
    const { owner } = await startTask({ ...deps, pid: process.pid }, bytes)
    return { is: 'launched', owner, grantDigest: sha256Digest(bytes) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const passing = ['workspace_busy', 'revision_mismatch', 'store_busy', 'invalid_transition'] as const
    if (isDiskFull(error) || passing.some((code) => isRefusal(error, code))) return { is: 'later' }
    return { is: 'refused', detail: `${error.code}: ${error.message}` }
  }
}

const encoder = new TextEncoder()
