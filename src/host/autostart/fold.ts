import { type AutostartEntry, isFinalSkip, isPostponed, type TurnKey } from './entry.ts'

/** A turn that waits to be started. */
export interface WaitingTurn extends TurnKey {
  /** Launches so far, without those that only have to be tried later. */
  readonly launches: number
}

/** A turn whose owner was launched and whose end is not noted. */
export interface StartedTurn extends WaitingTurn {
  /** Unix milliseconds of the launch. */
  readonly at: number
  readonly ownerProcess: number | null
}

/** Where a turn stands: `held` ones were skipped or refused and may be tried under a policy that is said anew. */
export type TurnStanding = 'waiting' | 'started' | 'held' | 'decided'

/** What the journal says now, in the order in which turns became eligible. */
export interface AutostartState {
  readonly waiting: readonly WaitingTurn[]
  readonly started: readonly StartedTurn[]
  /** Held turns after whose skip or refusal a policy was put in force. */
  readonly heldBefore: readonly TurnKey[]
  /** How a turn stands and what was last said against it; null for one that never became eligible. */
  find(turn: TurnKey): { readonly standing: TurnStanding; readonly why: string | null } | null
}

interface Known {
  readonly turn: TurnKey
  standing: TurnStanding
  launches: number
  /** The detail of the entry that stands against the turn. */
  why: string | null
  /** Whether a policy was put in force since the turn is held. */
  policyCame: boolean
  at: number
  ownerProcess: number | null
}

/**
 * Folds the journal into what waits and what runs. A turn that was decided stays decided until a `retry`; a second
 * `eligible` for it changes nothing. A held turn that is tried again has all its launches before it. Pure.
 * @see spec/execution.md §13
 */
export function foldJournal(entries: Iterable<AutostartEntry>): AutostartState {
  const turns = new Map<string, Known>()
  for (const entry of entries) {
    if (entry.event === 'policy_on') for (const known of turns.values()) known.policyCame = true
    if (entry.task === undefined) continue
    const turn = { task: entry.task, start: entry.turn ?? 1 }
    const known = turns.get(nameOf(turn))
    if (known !== undefined) advance(known, entry)
    else if (entry.event === 'eligible') {
      turns.set(nameOf(turn), eligibleTurn(turn, entry.at))
    }
  }
  const standing = (word: Known['standing']) => [...turns.values()].filter((known) => known.standing === word)
  return {
    waiting: standing('waiting').map(({ turn, launches }) => ({ ...turn, launches })),
    started: standing('started').map(({ turn, launches, at, ownerProcess }) => ({
      ...turn,
      launches,
      at,
      ownerProcess,
    })),
    heldBefore: standing('held')
      .filter(({ policyCame }) => policyCame)
      .map(({ turn }) => turn),
    find: (turn) => turns.get(nameOf(turn)) ?? null,
  }
}

function eligibleTurn(turn: TurnKey, at: number): Known {
  return { turn, standing: 'waiting', launches: 0, why: null, policyCame: false, at, ownerProcess: null }
}

function nameOf({ task, start }: TurnKey): string {
  return `${task}:${start}`
}

function advance(known: Known, entry: AutostartEntry): void {
  switch (entry.event) {
    case 'started':
      known.standing = 'started'
      known.why = null
      known.at = entry.at
      known.ownerProcess = entry.owner_process ?? null
      known.launches += 1
      return
    case 'unadmitted':
      known.why = entry.detail ?? null
      if (isPostponed(entry)) known.launches -= 1
      return
    case 'skipped':
    case 'refused':
      known.standing = isFinalSkip(entry) ? 'decided' : 'held'
      known.why = entry.detail ?? null
      known.policyCame = false
      return
    case 'no_capacity':
    case 'ended':
    case 'not_started':
      known.standing = 'decided'
      return
    case 'retry':
      if (known.standing === 'held') {
        known.launches = 0
        known.why = null
      }
      known.standing = 'waiting'
      return
    default:
      return
  }
}
