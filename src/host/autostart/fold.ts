import { type AutostartEntry, isPostponed, type TurnKey } from './entry.ts'

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

/** What the journal says now, in the order in which turns became eligible. */
export interface AutostartState {
  readonly waiting: readonly WaitingTurn[]
  readonly started: readonly StartedTurn[]
  /** Whether a turn ever became eligible. */
  knows(turn: TurnKey): boolean
}

interface Known {
  readonly turn: TurnKey
  standing: 'waiting' | 'started' | 'decided'
  launches: number
  at: number
  ownerProcess: number | null
}

/**
 * Folds the journal into what waits and what runs. A turn that was decided stays decided until a `retry`; a second
 * `eligible` for it changes nothing. Pure.
 * @see spec/execution.md §13
 */
export function foldJournal(entries: Iterable<AutostartEntry>): AutostartState {
  const turns = new Map<string, Known>()
  for (const entry of entries) {
    if (entry.task === undefined) continue
    const turn = { task: entry.task, start: entry.turn ?? 1 }
    const known = turns.get(nameOf(turn))
    if (known !== undefined) advance(known, entry)
    else if (entry.event === 'eligible') {
      turns.set(nameOf(turn), { turn, standing: 'waiting', launches: 0, at: entry.at, ownerProcess: null })
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
    knows: (turn) => turns.has(nameOf(turn)),
  }
}

function nameOf({ task, start }: TurnKey): string {
  return `${task}:${start}`
}

function advance(known: Known, entry: AutostartEntry): void {
  switch (entry.event) {
    case 'started':
      known.standing = 'started'
      known.at = entry.at
      known.ownerProcess = entry.owner_process ?? null
      known.launches += 1
      return
    case 'unadmitted':
      if (isPostponed(entry)) known.launches -= 1
      return
    case 'skipped':
    case 'refused':
    case 'no_capacity':
    case 'ended':
    case 'not_started':
      known.standing = 'decided'
      return
    case 'retry':
      known.standing = 'waiting'
      return
    default:
      return
  }
}
