import { interruptBytesMax, messageBytesMax } from '../limits.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { isStoreText } from '../protocol/text.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Task } from '../store/tasks/task.ts'
import type { Journal } from './journal.ts'
import {
  type CommandKind,
  type CommandRequest,
  type Entry,
  type EntryState,
  type Sender,
  sameRequest,
} from './journal-entry.ts'
import type { CommandLog } from './log.ts'
import { singleFlight } from './single-flight.ts'

/** What recording needs from around it. */
export interface RecordDeps {
  readonly journal: Journal
  readonly tasks: TaskStore
  readonly log: CommandLog
  /** Ends a run whose process is gone. Never kills or runs anything. */
  settle(taskId: string): Promise<void>
  /** Told when that ended a run: what waits for its end is evaluated, also when the command itself is known already. */
  settled(taskId: string): void
  /** Evaluates the entry and waits until what became of it is durable. */
  evaluated(entry: Entry, endedIt: boolean): Promise<EntryState>
  /** The wait that is on for an entry, if any. */
  evaluating(entry: Entry): Promise<EntryState> | null
}

/** A task before and after its dead run was settled. */
interface Looked {
  readonly before: Task
  readonly after: Task
}

/**
 * How a command gets into the journal. A command that is known already is answered with its current state; nothing is
 * evaluated or written for it. A new one is durable, with its first effect, before anything happens.
 *
 * Refuses `conflict` when the command's ID was used with anything different, `forbidden` for an unknown task (nothing
 * is recorded), `bounds` for a text that the task store cannot take and for a full journal, `rate_limited`,
 * `unavailable` when the journal or the task cannot be read or written.
 * @see spec/commands.md §2
 */
export function createRecorder(
  deps: RecordDeps,
): (sender: Sender, request: CommandRequest) => Promise<EntryState> {
  const { journal } = deps
  // One look at a task serves all who ask meanwhile, and they enter the journal in the order they arrived.
  const looks = singleFlight((task) => lookAndSettle(deps, task))

  return async (sender, request) => {
    await journal.ready()
    const known = journal.find(sender.device, request.command)
    if (known !== null) return await replay(deps, known, request)
    checkCommandText(request.kind, request.text)
    const looked = await looks.ask(request.task)
    await journal.ready()
    const sinceThen = journal.find(sender.device, request.command)
    if (sinceThen !== null) return await replay(deps, sinceThen, request)
    const entry = journal.add(sender, request)
    return await deps.evaluated(entry, request.kind === 'interrupt' && foundGone(looked))
  }
}

/**
 * Refuses `bounds` for a text that the task store could never take: blank, too long, or with control characters.
 * Better at once than when its turn comes.
 */
export function checkCommandText(kind: CommandKind, text: string): void {
  const fits =
    kind === 'interrupt'
      ? isStoreText(text, interruptBytesMax, 'single')
      : isStoreText(text, messageBytesMax, 'multi')
  if (!fits) throw new Refusal('bounds', 'the text is blank, too long, or has control characters')
}

/** The task, or `forbidden` when there is none, or `unavailable` when it cannot be read. */
export async function taskFor(tasks: TaskStore, taskId: string): Promise<Task> {
  try {
    return await tasks.show(taskId)
  } catch (cause) {
    if (isRefusal(cause, 'not_found')) throw new Refusal('forbidden', 'there is no such task')
    if (!isRefusal(cause)) throw cause
    throw new Refusal('unavailable', `the task cannot be read: ${cause.code}`, { cause })
  }
}

async function replay(deps: RecordDeps, known: Entry, request: CommandRequest): Promise<EntryState> {
  if (!sameRequest(known.request, request)) {
    throw new Refusal('conflict', 'this command ID was used for something else')
  }
  const evaluating = deps.evaluating(known)
  if (evaluating !== null) return await evaluating
  const { state } = await durable(deps.journal, known)
  await deps.journal.check()
  // What became of it since may not be durable yet.
  return state
}

/** The entry as it is once what is in memory of it is durable. */
async function durable(journal: Journal, known: Entry): Promise<Entry> {
  let entry: Entry | null = known
  while (entry !== null && !journal.isDurable(entry)) {
    await journal.commit()
    entry = journal.find(known.sender.device, known.request.command)
  }
  if (entry === null) throw new Refusal('unavailable', 'the command could not be recorded')
  return entry
}

async function lookAndSettle(deps: RecordDeps, taskId: string): Promise<Looked> {
  const before = await taskFor(deps.tasks, taskId)
  if (!mayBeDead(before)) return { before, after: before }
  try {
    await deps.settle(taskId)
  } catch (error) {
    const code = isRefusal(error) ? error.code : 'unexpected'
    deps.log.warn('a run could not be settled before a command', { task: taskId, code })
  }
  const after = await taskFor(deps.tasks, taskId)
  if (after.revision !== before.revision) deps.settled(taskId)
  return { before, after }
}

function mayBeDead(task: Task): boolean {
  return ['running', 'cancel_requested', 'unknown'].includes(task.status) || task.checks === 'running'
}

/** Whether settling ended the turn because its process was gone, rather than the turn by itself. */
function foundGone({ before, after }: Looked): boolean {
  return (
    before.status !== 'finished' &&
    after.status === 'finished' &&
    after.run?.result?.ending === 'owner_process_ended'
  )
}
