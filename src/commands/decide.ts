import type { SteeringRow } from '../host/steering.ts'
import { commandAheadSecondsMax, commandSeconds } from '../limits.ts'
import {
  type CommandKind,
  type Entry,
  isDone,
  type Outcome,
  type RejectReason,
  textOf,
} from './journal-entry.ts'
import type { TaskView } from './view.ts'

/** What a command does to its task. A cancel that belongs to an emulated steer is followed by a held message. */
export type Effect =
  | { readonly type: 'cancel'; readonly reason: string }
  | { readonly type: 'continue'; readonly prompt: string }
  | { readonly type: 'correct'; readonly prompt: string }
  | { readonly type: 'cancel_then_continue' }

export type Decision =
  | { readonly type: 'skip' }
  | { readonly type: 'hold'; readonly priority: boolean }
  | { readonly type: 'dispatch'; readonly effect: Effect }
  | { readonly type: 'done'; readonly outcome: Outcome }

/** What is true around an entry, beside its task. */
export interface Surroundings {
  /** A later undecided interrupt of the same task exists. */
  readonly newerInterrupt: boolean
  /** A message that runs before this one is held. */
  readonly heldAhead: boolean
  /** The sender still holds `operate`, under the recorded grant or a renewal of it. */
  readonly standing: boolean
  /** Recording this interrupt found its run's process gone, and that is what ended the turn. */
  readonly endedIt: boolean
  /** Host time, Unix seconds. */
  readonly now: number
}

/** The request as it stands after edits: the fields that a decision looks at. */
interface Effective {
  readonly kind: CommandKind
  readonly text: string
  readonly emulate: boolean
  /** The turn that the device saw when it asked is over. */
  readonly endedTurn: boolean
}

const skip: Decision = { type: 'skip' }

/**
 * Decides what one journal entry does to its task now. Pure.
 * @returns `done` with an outcome, `hold`, `dispatch` with an effect, or `skip` when it is decided already
 * @see spec/commands.md §3
 */
export function decide(entry: Entry, view: TaskView, steering: SteeringRow, around: Surroundings): Decision {
  if (isDone(entry)) return skip
  const over = lapse(entry, around)
  if (over !== null) return { type: 'done', outcome: over }
  const asked = effective(entry, view)
  if (view.archived && asked.kind !== 'interrupt') return rejected('conflict')
  switch (asked.kind) {
    case 'interrupt':
      return decideInterrupt(asked, view, around)
    case 'send':
      return decideSend(asked, view, around)
    case 'queue':
      return decideQueue(asked, view, around)
    case 'steer':
      return decideSteer(asked, view, steering, around)
    case 'answer':
      return decideAnswer(asked, view, around)
  }
}

/**
 * How an entry ends because of its age or its sender alone, or null while neither ends it. Pure.
 * @see spec/commands.md §3, steps 2 and 3
 */
export function lapse(entry: Entry, around: Pick<Surroundings, 'standing' | 'now'>): Outcome | null {
  const { issued_at } = entry.request
  if (around.now > issued_at + commandSeconds) return { state: 'done', outcome: 'expired' }
  if (issued_at > around.now + commandAheadSecondsMax) return rejection('bounds')
  return around.standing ? null : rejection('revoked')
}

/** A promoted message counts as a steer that may cancel the running turn. */
function effective(entry: Entry, view: TaskView): Effective {
  const promoted = entry.promoted === true
  return {
    kind: promoted ? 'steer' : entry.request.kind,
    text: textOf(entry),
    emulate: promoted || entry.request.emulate,
    endedTurn: entry.request.based_on < view.turnStarted,
  }
}

function decideInterrupt(asked: Effective, view: TaskView, around: Surroundings): Decision {
  if (around.newerInterrupt || asked.endedTurn) return superseded
  switch (view.phase) {
    case 'pending':
    case 'running':
      return { type: 'dispatch', effect: { type: 'cancel', reason: asked.text } }
    case 'ended':
      return around.endedIt ? applied(view.revision) : superseded
    case 'stopping':
      return superseded
    case 'unknown':
      return rejected('unavailable')
  }
}

function decideSend(asked: Effective, view: TaskView, around: Surroundings): Decision {
  if (isFree(view, around)) return continues(asked)
  return rejected(view.phase === 'unknown' ? 'unavailable' : 'conflict')
}

function decideQueue(asked: Effective, view: TaskView, around: Surroundings): Decision {
  if (!view.paused && isFree(view, around)) return continues(asked)
  return { type: 'hold', priority: false }
}

function decideSteer(
  asked: Effective,
  view: TaskView,
  steering: SteeringRow,
  around: Surroundings,
): Decision {
  if (view.phase === 'unknown') return rejected('unavailable')
  if (asked.endedTurn || view.phase === 'ended') {
    return isFree(view, around) ? continues(asked) : { type: 'hold', priority: true }
  }
  if (view.phase === 'pending') return corrects(asked)
  if (!asked.emulate) return steering.native === 'mid_turn' ? corrects(asked) : rejected('unsupported')
  if (steering.emulation === null) return rejected('unsupported')
  if (view.phase === 'stopping') return { type: 'hold', priority: true }
  return { type: 'dispatch', effect: { type: 'cancel_then_continue' } }
}

function decideAnswer(asked: Effective, view: TaskView, around: Surroundings): Decision {
  if (view.phase === 'unknown') return rejected('unavailable')
  if (asked.endedTurn) return rejected('stale')
  if (view.question !== null && isFree(view, around)) return continues(asked)
  return rejected('conflict')
}

/** Whether a new turn may begin with this entry: the last has ended and nothing that runs first is held. */
function isFree(view: TaskView, around: Surroundings): boolean {
  return view.phase === 'ended' && !around.heldAhead
}

const superseded: Decision = { type: 'done', outcome: { state: 'done', outcome: 'superseded' } }

function continues(asked: Effective): Decision {
  return { type: 'dispatch', effect: { type: 'continue', prompt: asked.text } }
}

function corrects(asked: Effective): Decision {
  return { type: 'dispatch', effect: { type: 'correct', prompt: asked.text } }
}

function applied(revision: number): Decision {
  return { type: 'done', outcome: { state: 'done', outcome: 'applied', revision } }
}

function rejected(reason: RejectReason): Decision {
  return { type: 'done', outcome: rejection(reason) }
}

/** The outcome of a command that is not carried out. */
export function rejection(reason: RejectReason): Outcome {
  return { state: 'done', outcome: 'rejected', reason }
}
