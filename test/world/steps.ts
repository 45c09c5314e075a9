import { type CommandKind, commandKinds } from '../../src/commands/journal-entry.ts'
import { type Dice, dice } from '../support/dice.ts'

/** How a turn ends. `lost`: its owner died and nobody has noticed; `murky`: something of it may still live. */
export const endings = ['exit 0', 'exit 1', 'asked_question', 'asked_approval', 'murky', 'lost'] as const
export type Ending = (typeof endings)[number]

export const editActions = [
  'list',
  'lease',
  'release',
  'edit',
  'restore',
  'remove',
  'send_now',
  'reorder',
] as const
export type EditAction = (typeof editActions)[number]

/**
 * One thing that happens in the world. All of it is plain data, so that a schedule can be written down, cut shorter and
 * played again. `pick` chooses among what there is at that moment.
 */
export type Step =
  | {
      do: 'mint'
      device: number
      task: number
      kind: CommandKind
      emulate: boolean
      /** Based on a revision that the device saw long ago. */
      stale: boolean
      /** It takes no time on its way, unless the device still waits for an answer to one before it. */
      quickly: boolean
      /** Seconds that the device's clock is ahead. */
      ahead: number
    }
  /** The oldest command of a device that has no answer goes out, for the first time or again. */
  | { do: 'send'; device: number }
  /** `quickly`: the lease is taken first, and nothing of it takes any time on its way. */
  | { do: 'ask'; device: number; task: number; action: EditAction; pick: number; quickly: boolean }
  | { do: 'relay'; pick: number; fate: 'deliver' | 'duplicate' | 'drop' }
  | { do: 'begin' | 'archive' | 'restore' | 'cancel' | 'continue'; task: number }
  | { do: 'end'; task: number; how: Ending }
  | { do: 'revoke' | 'grant' | 'renew'; device: number }
  | { do: 'engine'; native: boolean; emulates: boolean }
  | { do: 'clock'; seconds: number }
  | { do: 'settle' }
  | { do: 'crash'; after: number }
  | { do: 'fail'; at: number; times: number; doubtful: boolean }

export const stepKinds = [
  ...[
    'mint',
    'send',
    'ask',
    'relay',
    'begin',
    'end',
    'cancel',
    'continue',
    'archive',
    'restore',
    'revoke',
    'grant',
  ],
  ...['renew', 'engine', 'clock', 'settle', 'crash', 'fail'],
]

export interface Schedule {
  /** Of what is left to chance: the disk's timing, and what a crash leaves of what was under way. */
  readonly seed: number
  readonly steps: readonly Step[]
}

type Draw = (dice: Dice) => Step

const device = (from: Dice) => from.below(3)
/** The place of a task that is not there. */
export const noTask = 2
const task = (from: Dice) => from.below(2)
const kinds: readonly CommandKind[] = [...commandKinds, 'queue', 'queue', 'queue', 'steer']
const actions: readonly EditAction[] = [...editActions, 'lease', 'lease', 'edit', 'remove', 'send_now']
/** Seconds: within a lease, past a lease, past a command's life, past what the journal keeps; and one step back. */
const clockSteps = [1, 30, 61, 61, 700, 90_000, 180_000, -20]

const draws: readonly (readonly [weight: number, draw: Draw])[] = [
  [
    16,
    (from) => ({
      do: 'mint',
      device: device(from),
      task: from.chance(0.02) ? noTask : task(from),
      kind: from.pick(kinds),
      emulate: from.chance(0.5),
      stale: from.chance(0.15),
      ahead: from.chance(0.02) ? 600 : 0,
      quickly: from.chance(0.6),
    }),
  ],
  [18, (from) => ({ do: 'send', device: device(from) })],
  [
    12,
    (from) => ({
      do: 'ask',
      device: device(from),
      task: task(from),
      action: from.pick(actions),
      pick: from.below(64),
      quickly: from.chance(0.6),
    }),
  ],
  [
    34,
    (from) => ({
      do: 'relay',
      pick: from.below(64),
      fate: from.chance(0.75) ? 'deliver' : from.chance(0.5) ? 'duplicate' : 'drop',
    }),
  ],
  [8, (from) => ({ do: 'begin', task: task(from) })],
  [9, (from) => ({ do: 'end', task: task(from), how: from.chance(0.6) ? 'exit 0' : from.pick(endings) })],
  [2, (from) => ({ do: 'cancel', task: task(from) })],
  [1, (from) => ({ do: 'continue', task: task(from) })],
  [1, (from) => ({ do: 'archive', task: task(from) })],
  [1, (from) => ({ do: 'restore', task: task(from) })],
  [1, (from) => ({ do: 'revoke', device: device(from) })],
  [1, (from) => ({ do: 'grant', device: device(from) })],
  [1, (from) => ({ do: 'renew', device: device(from) })],
  [2, (from) => ({ do: 'engine', native: from.chance(0.3), emulates: from.chance(0.7) })],
  [3, (from) => ({ do: 'clock', seconds: from.pick(clockSteps) })],
  [8, () => ({ do: 'settle' })],
  [4, (from) => ({ do: 'crash', after: from.below(40) })],
  [2, (from) => ({ do: 'fail', at: from.below(4), times: 1 + from.below(3), doubtful: from.chance(0.5) })],
]

const weights = draws.reduce((sum, [weight]) => sum + weight, 0)
const stepsMin = 12
const stepsMore = 50

/** The schedule of a seed: the same seed, the same schedule. */
export function scheduleOf(seed: number): Schedule {
  const from = dice(seed)
  const count = stepsMin + from.below(stepsMore)
  return { seed, steps: Array.from({ length: count }, () => draw(from)) }
}

function draw(from: Dice): Step {
  let left = from.below(weights)
  for (const [weight, make] of draws) {
    if (left < weight) return make(from)
    left -= weight
  }
  throw new Error('the weights do not add up')
}
