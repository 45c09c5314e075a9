import { launchesMax, ownerActiveMs, ownerAdmissionMs } from '../../limits.ts'
import { turnStart } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import { isPostponed, unadmittedDetail } from './entry.ts'
import type { StartedTurn } from './fold.ts'

/** How a turn that was launched stands. `active` ones count against the policy's limit. */
export type Review =
  | { readonly is: 'active' }
  | { readonly is: 'idle' }
  | { readonly is: 'ended'; readonly detail: string }
  | { readonly is: 'unadmitted' }

/**
 * Judges a launched turn by its task. Pure.
 * @param task null when it is gone
 * @param isOwnerAlive whether the launched process is still there
 * @param nowMs host time, Unix milliseconds
 * @see spec/execution.md §13, sweep step 3
 */
export function reviewTurn(
  turn: StartedTurn,
  task: Task | null,
  isOwnerAlive: boolean,
  nowMs: number,
): Review {
  if (task === null) return { is: 'ended', detail: 'the task is gone' }
  if (turnStart(task) !== turn.start) return { is: 'ended', detail: 'the turn is over and a later one began' }
  switch (task.status) {
    case 'running':
    case 'cancel_requested':
      return { is: 'active' }
    case 'queued': {
      const age = nowMs - turn.at
      if (!isOwnerAlive || age >= ownerAdmissionMs) return { is: 'unadmitted' }
      return { is: age < ownerActiveMs ? 'active' : 'idle' }
    }
    case 'finished':
      return { is: 'ended', detail: `the turn ended: ${task.execution}` }
    case 'cancelled':
      return { is: 'ended', detail: 'cancelled before it ran' }
    case 'unknown':
      // Without a result it may still be settled; with one, unknown is how it ended.
      return task.run?.result == null ? { is: 'idle' } : { is: 'ended', detail: 'how it ended is not known' }
  }
}

/** What an owner that admitted nothing left behind: a code and words, as its diagnostic has them. */
export interface OwnerRefusal {
  readonly code: string
  readonly message: string
}

/** What follows from a launch that admitted nothing. */
export interface Unadmitted {
  readonly detail: string
  readonly next: 'retry' | 'not_started'
}

/**
 * Decides whether a launch that admitted nothing is tried again. Pure.
 * @param refusal null when the owner left no word
 * @param launches launches so far, this one included
 */
export function judgeUnadmitted(refusal: OwnerRefusal | null, launches: number): Unadmitted {
  const code = refusal === null ? 'owner_gone' : isDiskFullText(refusal) ? 'disk_full' : refusal.code
  const detail = unadmittedDetail(code, refusal?.message ?? 'the owner process ended without a word')
  if (isPostponed({ detail })) return { detail, next: 'retry' }
  const again = retryableCodes.includes(code) && launches < launchesMax
  return { detail, next: again ? 'retry' : 'not_started' }
}

/** Causes that may be gone the next time. */
const retryableCodes: readonly string[] = ['owner_gone', 'io', 'reopen_required']

function isDiskFullText({ code, message }: OwnerRefusal): boolean {
  return code === 'io' && /\b(ENOSPC|EDQUOT)\b/.test(message)
}
