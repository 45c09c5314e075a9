import { turnStart } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { Workspace } from '../workspace.ts'
import { isBeforePolicy } from './consider.ts'
import { coveringLabel, isEngineOf } from './eligibility.ts'
import { codeIn } from './entry.ts'
import type { AutostartState } from './fold.ts'
import type { PolicyInForce } from './policy.ts'

/** What notes are made of: all of it as it stands now. */
export interface NoteFacts {
  readonly inForce: PolicyInForce | null
  readonly state: AutostartState
  readonly workspaces: readonly Workspace[]
  /** Why the last look at what waits started nothing, by task. */
  readonly passing: ReadonlyMap<string, string>
}

/**
 * Why a queued task waits, in words for a person; null when it does not wait or is just being started. A code at most
 * is told of a refusal: its own words may name places of this machine. Pure.
 * @param changedNs when the task's file last changed, in nanoseconds of the file system; null when that is not known
 * @see spec/wire.md §6
 */
export function noteFor(facts: NoteFacts, task: Task, changedNs: bigint | null): string | null {
  if (task.status !== 'queued' || task.run !== undefined) return null
  const { inForce, state, workspaces, passing } = facts
  const found = state.find({ task: task.task_id, start: turnStart(task) })
  if (found?.standing === 'started') return null
  if (found?.standing === 'held') return forOperator(heldWords(found.why ?? ''))
  if (inForce === null) return forOperator('auto-start is off')
  if (coveringLabel(task, inForce.policy, workspaces) === null) {
    return forOperator('no auto-start policy covers this project')
  }
  if (!isEngineOf(task, inForce.policy)) {
    return forOperator('the auto-start policy is for another adapter or model')
  }
  if (found?.standing === 'waiting') {
    return passing.get(task.task_id) ?? (found.why === null ? null : triedAgain(found.why))
  }
  if (found !== null) return forOperator('it does not start by itself again')
  return changedNs !== null && isBeforePolicy(changedNs, inForce)
    ? forOperator('it waited before the auto-start policy was made')
    : null
}

function forOperator(why: string): string {
  return `waiting for the operator: ${why}`
}

function heldWords(detail: string): string {
  const code = codeIn(detail)
  return code === null ? detail : `the start was refused (${code})`
}

function triedAgain(detail: string): string {
  const code = codeIn(detail)
  return `waiting to be tried again: ${passingWords.get(code ?? '') ?? `the start was refused (${code ?? 'unknown'})`}`
}

/** Causes that pass by themselves, said without their code. */
const passingWords = new Map([
  ['workspace_busy', 'another task is still running in this project'],
  ['revision_mismatch', 'the task changed meanwhile'],
  ['store_busy', 'the task store was busy'],
  ['disk_full', 'the disk is full'],
])
