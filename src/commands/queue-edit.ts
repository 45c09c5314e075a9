import type { SteeringRow } from '../host/steering.ts'
import type { QueueEdit } from '../protocol/operations/commands.ts'
import type { QueueView } from '../protocol/outcomes.ts'
import { Refusal, type WireCode } from '../protocol/refusal.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Task } from '../store/tasks/task.ts'
import { type Decision, decide } from './decide.ts'
import type { Journal } from './journal.ts'
import { type Entry, hasPriority, isHeld, type Lease, type Sender } from './journal-entry.ts'
import { askLease, type Contention, isLive } from './leases.ts'
import { hasNewerInterrupt, isHeldAhead } from './queue-order.ts'
import { queueView } from './queue-view.ts'
import { checkCommandText, taskFor } from './record.ts'
import { taskView } from './view.ts'
import { wireResult } from './wire-result.ts'

/** What editing a queue needs from around it. */
export interface EditDeps {
  readonly clock: Clock
  readonly journal: Journal
  readonly tasks: TaskStore
  steeringOf(task: Task): SteeringRow
  standing(sender: Sender): boolean
  archived(taskId: string): Promise<boolean>
  /** Evaluates the task: a queue edit changed something of it. */
  evaluate(taskId: string): Promise<void>
  /** Told of every change of a lease, so that its lapse can be acted on. */
  leased(taskId: string, lease: Lease | null): void
}

/** A change that was made in memory; it may still end in a refusal once it is durable. */
interface Edited {
  readonly changed: boolean
  readonly refusal?: Refusal
}

const unchanged: Edited = { changed: false }
const changed: Edited = { changed: true }

/**
 * Looks at or edits the held messages of a task; answers with the queue afterwards, durable and evaluated.
 *
 * Refuses `forbidden` for an unknown task or a message that the device did not send; `conflict` without the device's
 * live lease, for a lease that another holds, for a message no longer held, or for an order that is not of exactly
 * the messages that have one; `bounds`, `rate_limited` for a text; for `send_now` what sending it now would come to;
 * `unavailable` when the journal or the task cannot be read or written.
 * @see spec/commands.md §5
 */
export function createQueueEditor(
  deps: EditDeps,
): (sender: Sender, taskId: string, edit: QueueEdit) => Promise<QueueView> {
  const { journal } = deps
  const contentions = new Map<string, Contention>()

  return async (sender, taskId, edit) => {
    await journal.ready()
    const [task, archived] = await Promise.all([taskFor(deps.tasks, taskId), deps.archived(taskId)])
    const now = nowSeconds(deps.clock)
    const content = journal.content()
    const edited = apply(deps, contentions, { sender, task, archived, now }, edit)
    // An effect that the edit allows is written together with it.
    if (edited.changed) await deps.evaluate(taskId)
    // What changes nothing may rest on a change that is not durable yet.
    await journal.commit(content)
    if (!edited.changed) await journal.check()
    if (edited.refusal !== undefined) throw edited.refusal
    const { revision } = edited.changed ? await taskFor(deps.tasks, taskId) : task
    const lease = journal.lease(taskId)
    return queueView({ id: taskId, revision }, journal.undecided(taskId), lease, sender.device, now)
  }
}

/** Who edits which task, and when. */
interface Situation {
  readonly sender: Sender
  readonly task: Task
  readonly archived: boolean
  readonly now: number
}

function apply(
  deps: EditDeps,
  contentions: Map<string, Contention>,
  situation: Situation,
  edit: QueueEdit,
): Edited {
  const { journal } = deps
  if (edit.action === 'list') return unchanged
  if (edit.action === 'lease') return lease(deps, contentions, situation)
  if (edit.action === 'release') return release(deps, contentions, situation)
  requireLease(journal, situation)
  switch (edit.action) {
    case 'edit':
      return setText(journal, ownMessage(journal, situation, edit.command), edit.text)
    case 'remove':
      return remove(journal, ownMessage(journal, situation, edit.command))
    case 'send_now':
      return sendNow(deps, situation, ownMessage(journal, situation, edit.command))
    case 'reorder':
      return reorder(journal, situation.task.task_id, edit.commands)
  }
}

function lease(deps: EditDeps, contentions: Map<string, Contention>, situation: Situation): Edited {
  const { journal } = deps
  const taskId = situation.task.task_id
  const before = journal.lease(taskId)
  const current = { lease: before, contention: contentions.get(taskId) ?? null }
  const answer = askLease(taskId, situation.sender.device, current, situation.now)
  contentions.set(taskId, answer.contention)
  if (answer.lease !== before) {
    setLease(deps, taskId, answer.lease)
  }
  const edited = answer.lease === before ? unchanged : changed
  return answer.granted ? edited : { ...edited, refusal: leasedByAnother() }
}

function release(
  deps: EditDeps,
  contentions: Map<string, Contention>,
  { sender, task, now }: Situation,
): Edited {
  const held = deps.journal.lease(task.task_id)
  if (held?.device !== sender.device || !isLive(held, now)) return unchanged
  contentions.delete(task.task_id)
  setLease(deps, task.task_id, null)
  return changed
}

function setLease(deps: EditDeps, taskId: string, lease: Lease | null): void {
  deps.journal.setLease(taskId, lease)
  deps.leased(taskId, lease)
}

function requireLease(journal: Journal, { sender, task, now }: Situation): void {
  const held = journal.lease(task.task_id)
  if (held === null || !isLive(held, now)) {
    throw new Refusal('conflict', 'the edit lease of this queue is not yours: take it first')
  }
  if (held.device !== sender.device) throw leasedByAnother()
}

function leasedByAnother(): Refusal {
  return new Refusal('conflict', 'another device is editing this queue')
}

/** The device's own message of this task, whatever became of it. */
function ownMessage(journal: Journal, { sender, task }: Situation, command: string): Entry {
  const entry = journal.find(sender.device, command)
  if (entry === null || entry.request.task !== task.task_id) {
    throw new Refusal('forbidden', 'this device sent no such message')
  }
  return entry
}

function setText(journal: Journal, entry: Entry, text: string): Edited {
  requireHeld(entry)
  checkCommandText(entry.request.kind, text)
  const edited = text === entry.request.text ? undefined : text
  if (edited === entry.edited) return unchanged
  journal.setText(entry, edited ?? null)
  return changed
}

function remove(journal: Journal, entry: Entry): Edited {
  if (entry.state.state === 'done' && entry.state.outcome === 'cancelled') return unchanged
  requireHeld(entry)
  journal.setState(entry, { state: 'done', outcome: 'cancelled' })
  return changed
}

/** Whatever would end the message instead of sending it is the answer, and the message stays as it is. */
function sendNow(deps: EditDeps, situation: Situation, entry: Entry): Edited {
  if (entry.promoted === true) return unchanged
  requireHeld(entry)
  const { task, archived } = situation
  const view = taskView(task, { paused: false, archived })
  const steering = deps.steeringOf(task)
  const runs = view.phase === 'running' || view.phase === 'stopping'
  if (runs && steering.emulation === null) throw wouldNotSend('unsupported')
  const entries = deps.journal.undecided(task.task_id)
  const decision = decide({ ...entry, promoted: true }, view, steering, {
    newerInterrupt: hasNewerInterrupt(entries, entry),
    heldAhead: isHeldAhead(entries, entry),
    standing: deps.standing(entry.sender),
    endedIt: false,
    now: situation.now,
  })
  const code = refusalOf(decision)
  if (code !== null) throw wouldNotSend(code)
  deps.journal.promote(entry)
  return changed
}

function refusalOf(decision: Decision) {
  if (decision.type !== 'done') return null
  const result = wireResult(decision.outcome)
  return result.ok ? null : result.code
}

function reorder(journal: Journal, taskId: string, commands: readonly string[]): Edited {
  const movable = journal.undecided(taskId).filter((entry) => isHeld(entry) && !hasPriority(entry))
  const named = commands.map((command) => movable.filter((entry) => entry.request.command === command))
  const wanted = named.flat()
  const isExact = wanted.length === movable.length && named.every((found) => found.length === 1)
  if (!isExact) throw new Refusal('conflict', 'the order names other messages than the queue holds')
  if (wanted.every((entry, index) => entry === movable[index])) return unchanged
  journal.reorder(wanted)
  return changed
}

function requireHeld(entry: Entry): void {
  if (!isHeld(entry)) throw new Refusal('conflict', 'this message is no longer held')
}

function wouldNotSend(code: WireCode): Refusal {
  return new Refusal(code, 'this message cannot be sent now; it stays in the queue')
}
