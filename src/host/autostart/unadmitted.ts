import { identifierBytesMax, inputBytesMax } from '../../limits.ts'
import { isRefusal } from '../../protocol/refusal.ts'
import type { Disk } from '../../seams/disk.ts'
import { sha256Hex } from '../../store/digest.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { HostCoreDeps } from '../core.ts'
import { codeIn, entryTurn } from './entry.ts'
import type { StartedTurn } from './fold.ts'
import type { AutostartJournal } from './journal.ts'
import { judgeUnadmitted, type OwnerRefusal } from './review.ts'

/**
 * Deals with a launched turn that was never admitted: it waits again, or is given up and its task cancelled.
 * @returns `at_once` when it may be launched again right away, `later` when not before the next sweep
 * @see spec/execution.md §13, sweep step 3
 */
export async function giveBack(
  deps: HostCoreDeps,
  journal: AutostartJournal,
  turn: StartedTurn,
  task: Task,
): Promise<'at_once' | 'later' | 'given_up'> {
  const refusal = await readOwnerRefusal(deps.disk, deps.tasks.dir, turn.task)
  const { detail, next } = judgeUnadmitted(refusal, turn.launches)
  // The task first: once the journal says that the turn is decided, nothing looks at it again.
  if (next === 'not_started' && !(await cancel(deps, turn, task, detail))) return 'later'
  await journal.append({ event: 'unadmitted', ...entryTurn(turn), detail })
  await journal.append({ event: next, ...entryTurn(turn) })
  deps.log.warn(
    { task: turn.task, code: codeIn(detail) ?? 'unknown', reason: detail },
    next === 'retry'
      ? 'a turn that the auto-start policy started was not admitted; it is tried again'
      : 'a turn that the auto-start policy started was not admitted; its task is cancelled',
  )
  if (next === 'not_started') return 'given_up'
  return refusal?.code === 'revision_mismatch' ? 'at_once' : 'later'
}

/** Cancels a task that cannot be started; false when it moved meanwhile, to be judged again. */
async function cancel(deps: HostCoreDeps, turn: StartedTurn, task: Task, detail: string): Promise<boolean> {
  const command = {
    schema: 'openagents.coder.task-command.v1',
    command_id: cancelId(turn),
    task_id: turn.task,
    expected_revision: task.revision,
    action: { type: 'cancel', reason: `It could not be started by itself: ${detail}` },
  }
  try {
    await deps.tasks.apply(new TextEncoder().encode(JSON.stringify(command)))
    return true
  } catch (error) {
    const moved = ['revision_mismatch', 'invalid_transition', 'store_busy'] as const
    if (moved.some((code) => isRefusal(error, code))) return false
    throw error
  }
}

/** Names the turn, so that it is cancelled once; a name too long for an identifier is hashed. */
function cancelId({ task, start }: StartedTurn): string {
  const name = start === 1 ? task : `${task}-${start}`
  const id = `autostart-not-started-${name}`
  return id.length <= identifierBytesMax ? id : `autostart-not-started-${sha256Hex(name)}`
}

/** The refusal that the newest owner of a task left in its diagnostic; null when it left none. */
async function readOwnerRefusal(disk: Disk, storeDir: string, taskId: string): Promise<OwnerRefusal | null> {
  const prefix = `launch-${taskId}-`
  const moments = ((await disk.list(storeDir)) ?? [])
    .filter((name) => name.startsWith(prefix) && name.endsWith('.jsonl'))
    .map((name) => ({ name, at: /^\d+-(\d+)\.jsonl$/.exec(name.slice(prefix.length))?.[1] }))
    .filter(({ at }) => at !== undefined)
    .sort((one, other) => Number(one.at) - Number(other.at))
  const newest = moments.at(-1)
  if (newest === undefined) return null
  const bytes = await disk.read(`${storeDir}/${newest.name}`, inputBytesMax).catch(() => null)
  return bytes === null ? null : refusalIn(new TextDecoder().decode(bytes))
}

/** The first line that is an error object; a diagnostic may hold other words too. */
function refusalIn(text: string): OwnerRefusal | null {
  for (const line of text.split('\n')) {
    try {
      const { error } = JSON.parse(line)
      if (typeof error?.code === 'string' && typeof error?.message === 'string') {
        return { code: error.code, message: error.message }
      }
    } catch {}
  }
  return null
}
