import { turnStart } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import { canonicalPath, pathsOverlap } from '../probe/paths.ts'
import { pinProgram } from '../probe/program.ts'
import type { Workspace } from '../workspace.ts'
import { workspaceAroundProgram } from './change-policy.ts'
import { skippedGone, skippedNotQueued, type TurnKey } from './entry.ts'
import type { AutostartPolicy } from './policy.ts'

/** The label under which a policy covers a task: a workspace that it names, the task's own path. Null when none does. */
export function coveringLabel(
  task: Task,
  policy: AutostartPolicy,
  workspaces: readonly Workspace[],
): string | null {
  const found = workspaces.find(
    ({ label, path }) => policy.workspaces.includes(label) && path === task.intent.workspace.path,
  )
  return found?.label ?? null
}

/** Whether the policy's engine is the one that the task was made for. Pure. */
export function isEngineOf(task: Task, policy: AutostartPolicy): boolean {
  const { adapter, model } = task.intent.configuration
  return adapter === policy.engine.adapter && model === policy.engine.model
}

/** Why a waiting turn is not to be started any more; null when it is. Pure. @see spec/execution.md §13, sweep step 4 */
export function reasonToSkip(
  turn: TurnKey,
  task: Task | null,
  policy: AutostartPolicy,
  workspaces: readonly Workspace[],
): string | null {
  if (task === null) return skippedGone
  if (turnStart(task) !== turn.start || task.status !== 'queued' || task.run !== undefined) {
    return skippedNotQueued
  }
  if (coveringLabel(task, policy, workspaces) === null) return 'the workspace is no longer admitted'
  if (!isEngineOf(task, policy)) return 'the task was made for another adapter or model'
  return null
}

/** What stands against a policy's program: `skipped` when it changed, `refused` when a turn could rewrite it. */
export async function programFault(
  policy: AutostartPolicy,
  workspaces: readonly Workspace[],
): Promise<{ readonly event: 'skipped' | 'refused'; readonly detail: string } | null> {
  const within = await workspaceAroundProgram(policy, workspaces)
  if (within !== null) {
    return {
      event: 'refused',
      detail: `the program lies in the workspace ${within}, which its turns may write`,
    }
  }
  const digest = await pinProgram(policy.engine.program).catch(() => null)
  if (digest === policy.engine.program_digest) return null
  return { event: 'skipped', detail: 'the program changed since the policy was made' }
}

/** Another task whose run reserves a tree that overlaps this task's workspace; null when there is none. */
export async function reservingTask(task: Task, tasks: readonly Task[]): Promise<string | null> {
  const path = task.intent.workspace.path
  const workspace = await canonicalPath(path).catch(() => path)
  const other = tasks.find(
    ({ task_id, run, ...rest }) =>
      task_id !== task.task_id &&
      run !== undefined &&
      (reservingStatuses.includes(rest.status) || rest.checks === 'running') &&
      pathsOverlap(run.admission.workspace, workspace),
  )
  return other?.task_id ?? null
}

const reservingStatuses: readonly Task['status'][] = ['running', 'cancel_requested', 'unknown']
