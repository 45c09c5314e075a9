import { type Decision, decide, type Surroundings } from '../../src/commands/decide.ts'
import type { CommandKind, Entry } from '../../src/commands/journal-entry.ts'
import type { Phase, TaskView } from '../../src/commands/view.ts'
import type { SteeringRow } from '../../src/host/steering.ts'

export const now = 1_795_000_000
export const day = 86_400
export const text = 'And add a table.'
const turnStarted = 5
export const revision = 9

export const phases: readonly Phase[] = ['pending', 'running', 'stopping', 'ended', 'unknown']
const booleans = [false, true]

/** Everything a decision can depend on once the sender stands and the command is fresh. */
export interface Case {
  kind: CommandKind
  emulate: boolean
  phase: Phase
  endedTurn: boolean
  newerInterrupt: boolean
  heldAhead: boolean
  endedIt: boolean
  question: TaskView['question']
  paused: boolean
  native: SteeringRow['native']
  emulation: SteeringRow['emulation']
}

export const cancel: Decision = { type: 'dispatch', effect: { type: 'cancel', reason: text } }
export const continues: Decision = { type: 'dispatch', effect: { type: 'continue', prompt: text } }
export const correct: Decision = { type: 'dispatch', effect: { type: 'correct', prompt: text } }
export const cancelThenContinue: Decision = { type: 'dispatch', effect: { type: 'cancel_then_continue' } }
export const hold: Decision = { type: 'hold', priority: false }
export const holdFirst: Decision = { type: 'hold', priority: true }
export const superseded: Decision = { type: 'done', outcome: { state: 'done', outcome: 'superseded' } }
export const expired: Decision = { type: 'done', outcome: { state: 'done', outcome: 'expired' } }
export const applied: Decision = { type: 'done', outcome: { state: 'done', outcome: 'applied', revision } }
export const rejected = (
  reason: 'conflict' | 'unsupported' | 'unavailable' | 'revoked' | 'stale' | 'bounds',
) => ({ type: 'done', outcome: { state: 'done', outcome: 'rejected', reason } }) satisfies Decision

export function decideCase(
  of: Case,
  more: { archived?: boolean; standing?: boolean; age?: number; promoted?: boolean } = {},
): Decision {
  const entry = entryOf({
    kind: of.kind,
    emulate: of.emulate,
    based_on: of.endedTurn ? turnStarted - 1 : turnStarted,
    issued_at: now - (more.age ?? 0),
    ...(more.promoted === true ? { promoted: true } : {}),
  })
  const view = viewOf({
    phase: of.phase,
    question: of.question,
    paused: of.paused,
    archived: more.archived ?? false,
  })
  const surroundings = around({
    newerInterrupt: of.newerInterrupt,
    heldAhead: of.heldAhead,
    endedIt: of.endedIt,
    standing: more.standing ?? true,
  })
  return decide(deepFreeze(entry), deepFreeze(view), row(of), surroundings)
}

/** Every combination of what a decision of this kind can depend on. */
export function everyCase(kind: CommandKind): Case[] {
  const isInterrupt = kind === 'interrupt'
  return product<Case>({
    kind: [kind],
    emulate: kind === 'steer' ? booleans : [false],
    phase: phases,
    endedTurn: booleans,
    newerInterrupt: isInterrupt ? booleans : [false],
    heldAhead: booleans,
    endedIt: isInterrupt ? booleans : [false],
    question: [null, 'question', 'approval'],
    paused: booleans,
    native: ['mid_turn', 'turn_boundary', 'unsupported'],
    emulation: [null, 'cancel_and_continue'],
  })
}

function product<T extends object>(choices: { [K in keyof T]: readonly T[K][] }): T[] {
  let cases: Partial<T>[] = [{}]
  for (const key of Object.keys(choices) as (keyof T)[]) {
    cases = cases.flatMap((made) => choices[key].map((value) => ({ ...made, [key]: value })))
  }
  return cases as T[]
}

export function entryOf(of: {
  kind?: CommandKind
  emulate?: boolean
  based_on?: number
  issued_at?: number
  state?: Entry['state']
  edited?: string
  promoted?: true
}): Entry {
  const { kind = 'queue', emulate = false, based_on = turnStarted, issued_at = now, state, ...rest } = of
  return {
    sender: { device: 'd'.repeat(64), grant: 'a'.repeat(64), epoch: 0 },
    request: { command: 'c'.repeat(64), task: 'task-1', kind, based_on, text, emulate, issued_at },
    received_at: now,
    state: state ?? { state: 'received' },
    ...rest,
  }
}

export function viewOf(of: Partial<TaskView>): TaskView {
  return { phase: 'running', revision, turnStarted, question: null, paused: false, archived: false, ...of }
}

export function row(of: Partial<Pick<SteeringRow, 'native' | 'emulation'>> = {}): SteeringRow {
  const { native = 'turn_boundary', emulation = null } = of
  return { adapter: 'any', native, emulation, acknowledgment: 'none', limitations: [] }
}

export function around(of: Partial<Surroundings> = {}): Surroundings {
  return { newerInterrupt: false, heldAhead: false, standing: true, endedIt: false, now, ...of }
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) deepFreeze(part)
  return Object.freeze(value)
}
