import type { Task } from './task.ts'

/** Whether a task keeps others out of `workspace`, a canonical path. @see spec/execution.md §3 */
export function reserves(task: Task, workspace: string): boolean {
  const own = workspaceOf(task)
  return own !== null && isUnfinished(task) && overlaps(own, workspace)
}

/** The workspace that the current run was admitted to; null without a run. */
export function workspaceOf(task: Task): string | null {
  return task.run?.admission.workspace ?? null
}

/** Whether one path equals, contains or lies inside the other, by whole components. */
export function overlaps(one: string, other: string): boolean {
  return contains(one, other) || contains(other, one)
}

function contains(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
}

function isUnfinished({ status, checks }: Task): boolean {
  return status === 'running' || status === 'cancel_requested' || status === 'unknown' || checks === 'running'
}
