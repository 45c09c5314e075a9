import { type Evidence, readEvidence } from '../../host/trace/evidence.ts'
import type { RenderedStep } from '../../host/trace/render.ts'
import { answerBytesMax, stepTextBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { TaskDetail, TaskStep } from '../../protocol/task-pages.ts'
import { utf8Bytes } from '../../protocol/text.ts'
import { turnOf } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { TaskContext } from './context.ts'
import { taskItem } from './task-item.ts'
import { updatedAt, workspacePath } from './task-list.ts'

/**
 * A task and a page of its current turn's steps, the newest page first, each page in the order of time.
 *
 * Refuses `forbidden` for an unknown label or a task that is not in that workspace, `stale` when the task has moved on
 * from `revision` or the cursor's turn is over, `malformed` for a cursor that this host never gave.
 * @see spec/wire.md §6
 */
export async function readTask(
  context: TaskContext,
  query: { workspace: string; task: string; revision: number | null; cursor: string | null; limit: number },
): Promise<TaskDetail> {
  const path = workspacePath(context, query.workspace)
  const task = await context.tasks.show(query.task)
  if (task.intent.workspace.path !== path) throw new Refusal('forbidden', 'no such task in this workspace')
  if (query.revision !== null && query.revision !== task.revision) {
    throw new Refusal('stale', 'the task is at another revision')
  }
  const evidence = await readEvidence(context.disk, context.tasks.dir, task, {
    limit: everyStep,
    cursor: null,
  })
  const end = query.cursor === null ? evidence.steps.length : readCursor(query.cursor, task, evidence)
  const item = taskItem(context, task, query.workspace, await updatedAt(context, task))
  const result = task.run?.result ?? null
  const detail = {
    ...item,
    evidence: evidence.state,
    cost_usd: result?.cost_microusd === undefined ? null : result.cost_microusd / 1_000_000,
    cost_status: result?.cost_status ?? 'unknown',
  }
  const room = answerBytesMax - utf8Bytes(JSON.stringify(detail)) - 256
  const steps = newestSteps(evidence.steps.slice(0, end), turnOf(task), query.limit, room)
  const first = end - steps.length
  return { ...detail, steps, next: first > 0 ? `${turnOf(task)}.${first}` : null }
}

const everyStep = Number.MAX_SAFE_INTEGER

function newestSteps(
  rendered: readonly RenderedStep[],
  turn: number,
  limit: number,
  room: number,
): TaskStep[] {
  const steps: TaskStep[] = []
  let bytes = 0
  for (let index = rendered.length - 1; index >= 0 && steps.length < limit; index -= 1) {
    const step = rendered[index]
    if (step === undefined) break
    const shown = taskStep(step, turn)
    bytes += utf8Bytes(JSON.stringify(shown)) + 1
    if (steps.length > 0 && bytes > room) break
    steps.unshift(shown)
  }
  return steps
}

/** What a device sees of a step: a head of its text, and how its turn ended. Never candidate bytes. */
function taskStep(step: RenderedStep, turn: number): TaskStep {
  const { text, cut } = headOf(step.message)
  const stream = step.extra?.['stream']
  const result = step.extra?.['result']
  return {
    turn,
    step: step.step_id,
    at: Math.floor(Date.parse(step.timestamp) / 1000),
    role: step.source,
    text,
    cut,
    stream: stream === 'stdout' || stream === 'stderr' ? stream : null,
    ...endingOf(result),
  }
}

function endingOf(result: unknown): Pick<TaskStep, 'ending' | 'exit_code'> {
  if (typeof result !== 'object' || result === null) return { ending: null, exit_code: null }
  const ending = 'ending' in result && typeof result.ending === 'string' ? result.ending : null
  const code = 'exit_code' in result ? result.exit_code : null
  return { ending, exit_code: typeof code === 'number' ? code : null }
}

/** The first bytes of a text, cut between characters. */
function headOf(text: string): { text: string; cut: boolean } {
  if (text.length <= stepTextBytesMax / 4 || utf8Bytes(text) <= stepTextBytesMax) return { text, cut: false }
  const head = Buffer.from(text).subarray(0, stepTextBytesMax)
  return { text: new TextDecoder('utf-8').decode(head, { stream: true }), cut: true }
}

function readCursor(cursor: string, task: Task, evidence: Evidence): number {
  const match = /^(\d{1,3})\.(\d{1,9})$/.exec(cursor)
  if (match === null) throw new Refusal('malformed', 'not a cursor of this task', { field: 'query.cursor' })
  const before = Number(match[2])
  if (Number(match[1]) !== turnOf(task) || before > evidence.steps.length) {
    throw new Refusal('stale', 'the cursor belongs to an earlier turn')
  }
  return before
}
