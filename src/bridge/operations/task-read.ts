import type { RenderedStep } from '../../host/trace/render.ts'
import { readTurnTrace, type TurnTrace } from '../../host/trace/turn-trace.ts'
import { answerBytesMax, stepTextBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { TaskDetail, TaskStep } from '../../protocol/task-pages.ts'
import { utf8Bytes } from '../../protocol/text.ts'
import { taskInTurn, turnOf } from '../../store/tasks/derived.ts'
import type { TaskContext } from './context.ts'
import { taskItem } from './task-item.ts'
import { changedNs, workspacePath } from './task-list.ts'

/**
 * A task and a page of one turn's steps, in the order of time. Without a cursor it is the newest page of the current
 * turn; a cursor `TURN.N` gives the page that ends with step N, and `TURN+N` the one that begins after it.
 *
 * Refuses `forbidden` for an unknown label or a task that is not in that workspace, `stale` when the task has moved on
 * from `revision` or the cursor names a turn or a step that is not there, `malformed` for what is no cursor.
 * @param bytesMax of the page's JSON; the text of a step is cut shorter where it would not fit
 * @see spec/wire.md §6
 */
export async function readTask(
  context: TaskContext,
  query: { workspace: string; task: string; revision: number | null; cursor: string | null; limit: number },
  bytesMax: number = answerBytesMax,
): Promise<TaskDetail> {
  const path = workspacePath(context, query.workspace)
  const task = await context.tasks.show(query.task)
  if (task.intent.workspace.path !== path) throw new Refusal('forbidden', 'no such task in this workspace')
  if (query.revision !== null && query.revision !== task.revision) {
    throw new Refusal('stale', 'the task is at another revision')
  }
  const place = query.cursor === null ? null : readCursor(query.cursor)
  const turn = place?.turn ?? turnOf(task)
  const then = taskInTurn(task, turn)
  if (then === null) throw new Refusal('stale', 'the task has no such turn')
  const trace = await readTurnTrace(context, context.tasks.dir, then)
  const result = then.run?.result ?? null
  const detail = {
    ...taskItem(context, task, query.workspace, await changedNs(context, task), await context.core.notes()),
    evidence: trace.state,
    cost_usd: result?.cost_microusd === undefined ? null : result.cost_microusd / 1_000_000,
    cost_status: result?.cost_status ?? 'unknown',
  }
  const room = bytesMax - utf8Bytes(JSON.stringify(detail)) - 256
  return { ...detail, ...pageOf(trace, turn, place, { limit: query.limit, room }) }
}

/** Where a page ends (`.`) or what it begins after (`+`). */
interface Place {
  readonly turn: number
  readonly way: '.' | '+'
  readonly step: number
}

/** How many steps a page may have, and how many bytes. */
interface Bounds {
  readonly limit: number
  readonly room: number
}

function pageOf(
  trace: TurnTrace,
  turn: number,
  place: Place | null,
  bounds: Bounds,
): Pick<TaskDetail, 'steps' | 'next'> {
  const at = place?.step ?? trace.count
  if (at > trace.count) throw new Refusal('stale', 'the turn has no such step')
  if (place?.way === '+') {
    const steps = fitting(trace.steps(at, at + bounds.limit), turn, bounds)
    const last = at + steps.length
    return { steps, next: last < trace.count ? `${turn}+${last}` : null }
  }
  const before = trace.steps(Math.max(0, at - bounds.limit), at)
  const steps = fitting(before.reverse(), turn, bounds).reverse()
  const first = at - steps.length
  return { steps, next: first > 0 ? `${turn}.${first}` : null }
}

/** The first of the given steps, as many as fit, and always one: a reader must get on. */
function fitting(rendered: readonly RenderedStep[], turn: number, { room }: Bounds): TaskStep[] {
  const steps: TaskStep[] = []
  let bytes = 0
  for (const step of rendered) {
    const shown = steps.length === 0 ? fittingStep(step, turn, room) : taskStep(step, turn, stepTextBytesMax)
    bytes += utf8Bytes(JSON.stringify(shown)) + 1
    if (steps.length > 0 && bytes > room) break
    steps.push(shown)
  }
  return steps
}

/** A step with as much of its text as there is room for. */
function fittingStep(step: RenderedStep, turn: number, room: number): TaskStep {
  for (let textBytes = stepTextBytesMax; ; textBytes = Math.floor(textBytes / 2)) {
    const shown = taskStep(step, turn, textBytes)
    if (textBytes === 0 || utf8Bytes(JSON.stringify(shown)) <= room) return shown
  }
}

/** What a device sees of a step: a head of its text, and how its turn ended. Never candidate bytes. */
function taskStep(step: RenderedStep, turn: number, textBytesMax: number): TaskStep {
  const { text, cut } = headOf(step.message, textBytesMax)
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
function headOf(text: string, bytesMax: number): { text: string; cut: boolean } {
  if (text.length <= bytesMax / 4 || utf8Bytes(text) <= bytesMax) return { text, cut: false }
  const head = Buffer.from(text).subarray(0, bytesMax)
  return { text: new TextDecoder('utf-8').decode(head, { stream: true }), cut: true }
}

function readCursor(cursor: string): Place {
  const match = /^(\d{1,3})([.+])(\d{1,9})$/.exec(cursor)
  if (match === null) throw new Refusal('malformed', 'not a cursor of this task', { field: 'query.cursor' })
  return { turn: Number(match[1]), way: match[2] === '+' ? '+' : '.', step: Number(match[3]) }
}
