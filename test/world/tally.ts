import type { EntryState } from '../../src/commands/journal-entry.ts'
import { commandKinds } from '../../src/commands/journal-entry.ts'
import { editActions, endings, type Step, stepKinds } from './steps.ts'

/** Counts what runs of the world came to, by name. */
export interface Tally {
  step(step: Step): void
  check(invariant: string): void
  state(state: EntryState): void
  count(name: string): void
  readonly counts: Map<string, number>
}

export function createTally(): Tally {
  const counts = new Map<string, number>()
  const count = (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1)
  return {
    counts,
    count,
    step(step) {
      count('steps')
      for (const name of namesOf(step)) count(name)
    },
    check: (invariant) => count(`checked: ${invariant}`),
    state: (state) => count(`state: ${wordOf(state)}`),
  }
}

const relayFates = ['deliver', 'duplicate', 'drop'] as const

/**
 * States that an entry comes to in some seeds. Not here: `rejected missing`, since nothing takes a task out of the
 * store.
 */
const states = [
  ...[
    'received',
    'held',
    'held with priority',
    'dispatching',
    'applied',
    'expired',
    'superseded',
    'cancelled',
  ],
  ...['conflict', 'unsupported', 'unavailable', 'revoked', 'stale', 'bounds'].map(
    (reason) => `rejected ${reason}`,
  ),
]

/** Everything that enough seeds come to. @param invariants each has to be checked at least once */
export function pointsOf(invariants: readonly string[]): string[] {
  return [
    ...stepKinds.map((kind) => `step: ${kind}`),
    ...endings.map((ending) => `end: ${ending}`),
    ...commandKinds.map((kind) => `mint: ${kind}`),
    ...editActions.flatMap((action) => [`ask: ${action}`, `edited: ${action}`]),
    ...relayFates.map((fate) => `relay: ${fate}`),
    ...states.map((state) => `state: ${state}`),
    ...['disk call failed', 'disk call in doubt', 'crash in the middle of a call'],
    ...invariants.map((invariant) => `checked: ${invariant}`),
  ]
}

function namesOf(step: Step): string[] {
  const name = `step: ${step.do}`
  switch (step.do) {
    case 'end':
      return [name, `end: ${step.how}`]
    case 'mint':
      return [name, `mint: ${step.kind}`]
    case 'ask':
      return [name, `ask: ${step.action}`]
    case 'relay':
      return [name, `relay: ${step.fate}`]
    default:
      return [name]
  }
}

function wordOf(state: EntryState): string {
  switch (state.state) {
    case 'held':
      return state.priority ? 'held with priority' : 'held'
    case 'done':
      return 'reason' in state ? `${state.outcome} ${state.reason}` : state.outcome
    default:
      return state.state
  }
}
