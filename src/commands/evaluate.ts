import type { SteeringRow } from '../host/steering.ts'
import { heldPerTaskMax, revisionRetriesMax } from '../limits.ts'
import { isRefusal } from '../protocol/refusal.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Receipt, Task } from '../store/tasks/task.ts'
import { decide, lapse, rejection } from './decide.ts'
import { dispatching, storeFailure } from './effect.ts'
import type { Journal } from './journal.ts'
import {
  type Dispatching,
  type Entry,
  type EntryState,
  isDone,
  isHeld,
  type Sender,
} from './journal-entry.ts'
import { isLive } from './leases.ts'
import type { CommandLog } from './log.ts'
import { hasNewerInterrupt, isHeldAhead } from './queue-order.ts'
import { type TaskView, taskView } from './view.ts'

/** What an evaluation needs from around it. */
export interface EvaluateDeps {
  readonly clock: Clock
  readonly journal: Journal
  readonly tasks: TaskStore
  readonly log: CommandLog
  steeringOf(task: Task): SteeringRow
  standing(sender: Sender): boolean
  archived(taskId: string): Promise<boolean>
  /** Told of every turn that a command continued. */
  continued(taskId: string): void
}

/** What the one who evaluates knows of entries beside the journal. */
export interface Around {
  /** Recorded just now and never decided: a full queue may still turn it away. */
  isNew(entry: Entry): boolean
  /** Recording this interrupt found its run's process gone. */
  endedIt(entry: Entry): boolean
  /** Called whenever the journal became durable or an effect was applied. */
  progress(): void
}

/**
 * Applies decisions for one task, in journal order, until nothing changes; after each effect the task is read again.
 * At most one runs per task at a time. Nothing it decided is told to anybody before it is durable.
 * @returns false when the store left something in doubt or could not be read: then what is undecided stays, for the
 * next evaluation. Refuses `unavailable` when the journal cannot be written.
 * @see spec/commands.md §4
 */
export async function evaluateTask(deps: EvaluateDeps, taskId: string, around: Around): Promise<boolean> {
  const { journal } = deps
  const retries = new Map<string, number>()
  for (;;) {
    const undecided = journal.undecided(taskId)
    const begun = undecided.find(isDispatching)
    if (begun !== undefined) {
      const finished = await finish(deps, begun, retries)
      around.progress()
      if (!finished) return false
      continue
    }
    const looked = undecided.length === 0 ? null : await look(deps, taskId)
    const dispatched = looked !== null && scan(deps, taskId, looked, around)
    await journal.commit()
    around.progress()
    if (!dispatched) return looked === null ? undecided.length === 0 : true
  }
}

type Looked = 'missing' | { readonly task: Task; readonly archived: boolean }
type DispatchingEntry = Entry & { readonly state: Dispatching }

/** The task now; null when it cannot be read now. */
async function look(deps: EvaluateDeps, taskId: string): Promise<Looked | null> {
  try {
    const [task, archived] = await Promise.all([deps.tasks.show(taskId), deps.archived(taskId)])
    return { task, archived }
  } catch (error) {
    if (isRefusal(error, 'not_found')) return 'missing'
    deps.log.warn('a task could not be read for its commands', { task: taskId, code: codeOf(error) })
    return null
  }
}

/**
 * Decides every undecided entry of a task, again while one decision changes another. Without a pause: what it sees
 * is what holds.
 * @returns true when an effect is recorded, which must be finished before anything else of this task is decided
 */
function scan(deps: EvaluateDeps, taskId: string, looked: Looked, around: Around): boolean {
  const { journal } = deps
  // The journal may have been read again while the task was looked at: what it says was begun is finished first.
  if (journal.undecided(taskId).some(isDispatching)) return true
  for (let changed = true; changed; ) {
    changed = false
    for (const { sender, request } of journal.undecided(taskId)) {
      const entry = journal.find(sender.device, request.command)
      if (entry === null || isDone(entry)) continue
      const state = nextState(deps, entry, looked, around)
      if (state === null) continue
      journal.setState(entry, state)
      if (state.state === 'dispatching') return true
      changed = true
    }
  }
  return false
}

/** The state that an entry goes to now, or null when it stays. */
function nextState(deps: EvaluateDeps, entry: Entry, looked: Looked, around: Around): EntryState | null {
  if (looked === 'missing') return rejection('missing')
  const entries = deps.journal.undecided(entry.request.task)
  const decision = decide(entry, viewOf(deps, looked), deps.steeringOf(looked.task), {
    newerInterrupt: hasNewerInterrupt(entries, entry),
    heldAhead: isHeldAhead(entries, entry),
    standing: deps.standing(entry.sender),
    endedIt: around.endedIt(entry),
    now: nowSeconds(deps.clock),
  })
  switch (decision.type) {
    case 'skip':
      return null
    case 'done':
      return decision.outcome
    case 'hold':
      if (isHeldAs(entry, decision.priority)) return null
      return hasPlace(entries, entry, around) ? held(decision.priority) : rejection('bounds')
    case 'dispatch': {
      const next = dispatching(entry, decision.effect, looked.task.revision)
      return next.then_hold && !hasPlace(entries, entry, around) ? rejection('bounds') : next
    }
  }
}

function viewOf(deps: EvaluateDeps, looked: Exclude<Looked, 'missing'>): TaskView {
  const lease = deps.journal.lease(looked.task.task_id)
  return taskView(looked.task, {
    paused: isLive(lease, nowSeconds(deps.clock)),
    archived: looked.archived,
  })
}

/** Only a command that was never accepted is turned away by a full queue; one that is held has its place. */
function hasPlace(entries: readonly Entry[], entry: Entry, around: Around): boolean {
  return isHeld(entry) || !around.isNew(entry) || entries.filter(isHeld).length < heldPerTaskMax
}

/**
 * Finishes a recorded effect: the exact bytes go to the store, which answers an exact retry with its first receipt.
 * @returns false when the outcome is in doubt
 */
async function finish(
  deps: EvaluateDeps,
  entry: DispatchingEntry,
  retries: Map<string, number>,
): Promise<boolean> {
  const bytes = new TextEncoder().encode(entry.state.bytes)
  let receipt: Receipt
  try {
    const over = lapse(entry, { standing: deps.standing(entry.sender), now: nowSeconds(deps.clock) })
    const ends = over?.outcome === 'expired' || (over?.outcome === 'rejected' && over.reason === 'revoked')
    if (over !== null && ends && (await deps.tasks.receiptFor(bytes)) === null) {
      deps.journal.setState(entry, over)
      return true
    }
    receipt = await deps.tasks.apply(bytes, entry.sender.grant === null ? 'owner' : 'device')
  } catch (error) {
    return notApplied(deps, entry, error, retries)
  }
  const { revision } = receipt
  const next: EntryState = entry.state.then_hold
    ? held(true)
    : { state: 'done', outcome: 'applied', revision }
  // A crash before this is written replays the bytes to the same receipt.
  deps.journal.markLazily(entry, next)
  if (receipt.status === 'queued') deps.continued(entry.request.task)
  return true
}

function notApplied(deps: EvaluateDeps, entry: Entry, error: unknown, retries: Map<string, number>): boolean {
  const failure = storeFailure(error)
  if (failure === 'uncertain') {
    const facts = { task: entry.request.task, code: codeOf(error) }
    deps.log.warn('a command is in doubt and will be finished later', facts)
    return false
  }
  const { command } = entry.request
  const tries = (retries.get(command) ?? 0) + 1
  retries.set(command, tries)
  if (failure !== 'decide_again') deps.journal.setState(entry, rejection(failure))
  else if (tries > revisionRetriesMax) deps.journal.setState(entry, rejection('stale'))
  else deps.journal.markLazily(entry, { state: 'received' })
  return true
}

function held(priority: boolean): EntryState {
  return { state: 'held', priority }
}

function isHeldAs(entry: Entry, priority: boolean): boolean {
  return entry.state.state === 'held' && entry.state.priority === priority
}

function isDispatching(entry: Entry): entry is DispatchingEntry {
  return entry.state.state === 'dispatching'
}

function codeOf(error: unknown): string {
  return isRefusal(error) ? error.code : 'unexpected'
}
