import { turnStart } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { HostCoreDeps } from '../core.ts'
import { coveringLabel, isEngineOf, programFault, reasonToSkip } from './eligibility.ts'
import { entryTurn } from './entry.ts'
import type { AutostartJournal } from './journal.ts'
import type { PolicyInForce } from './policy.ts'
import { taskOrNull } from './task-or-null.ts'

/** What considering works on. */
export interface Considering {
  readonly deps: HostCoreDeps
  readonly journal: AutostartJournal
}

/**
 * Notes a task's current turn as eligible when a policy covers it. What waited already when the policy was made was
 * not meant by it and stays with the operator.
 * @param device who asked
 */
export async function consider(
  { deps, journal }: Considering,
  inForce: PolicyInForce,
  task: Task,
  device: string | undefined,
): Promise<void> {
  const { policy } = inForce
  if (task.status !== 'queued' || task.run !== undefined || !isEngineOf(task, policy)) return
  const workspace = coveringLabel(task, policy, await deps.workspaces())
  const turn = { task: task.task_id, start: turnStart(task) }
  if (workspace === null || (await journal.state()).find(turn) !== null) return
  const file = await deps.disk.identity(`${deps.tasks.dir}/task/${task.task_id}.json`)
  if (file === null || isBeforePolicy(file.mtimeNs, inForce)) return
  await journal.append({
    event: 'eligible',
    ...entryTurn(turn),
    ...(device === undefined ? {} : { device }),
    workspace,
  })
}

/** Whether a task that last changed then waited already when the policy was made. Pure. */
export function isBeforePolicy(changedNs: bigint, { madeNs }: PolicyInForce): boolean {
  return changedNs < madeNs
}

/**
 * Lets turns wait again that were skipped or refused before the policy was said, once what stood against them is gone.
 * @see spec/execution.md §13
 */
export async function reconsiderHeld(
  { deps, journal }: Considering,
  { policy }: PolicyInForce,
): Promise<void> {
  const { heldBefore } = await journal.state()
  if (heldBefore.length === 0) return
  const workspaces = await deps.workspaces()
  let fault: Awaited<ReturnType<typeof programFault>> | undefined
  for (const turn of heldBefore) {
    if (reasonToSkip(turn, await taskOrNull(deps.tasks, turn.task), policy, workspaces) !== null) continue
    fault ??= await programFault(policy, workspaces)
    if (fault !== null) return
    await journal.append({ event: 'retry', ...entryTurn(turn), detail: 'the policy was said again' })
  }
}
