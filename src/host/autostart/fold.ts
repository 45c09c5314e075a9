import type { AutostartEntry, TurnKey } from './entry.ts'

/** A turn that waits to be started. */
export interface WaitingTurn extends TurnKey {
  readonly workspace: string | null
  readonly device: string | null
  /** Launches that came to nothing so far. */
  readonly launches: number
}

/** A turn whose owner was launched and whose end is not recorded. */
export interface StartedTurn extends WaitingTurn {
  /** Unix milliseconds of the launch. */
  readonly at: number
  readonly ownerProcess: number | null
}

/** What the journal says now, in the order in which turns became eligible. */
export interface AutostartState {
  readonly waiting: readonly WaitingTurn[]
  readonly started: readonly StartedTurn[]
}

type Standing = 'waiting' | 'started' | 'decided'

interface Known {
  turn: WaitingTurn
  standing: Standing
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
    const start = entry.turn ?? 1
    const key = `${entry.task}:${start}`
    const known = turns.get(key)
    if (entry.event === 'eligible') {
      if (known === undefined) turns.set(key, eligible(entry, { task: entry.task, start }))
      continue
    }
    if (known !== undefined) advance(known, entry)
  }
  const all = Array.from(turns.values())
  return {
    waiting: all.filter(({ standing }) => standing === 'waiting').map(({ turn }) => turn),
    started: all
      .filter(({ standing }) => standing === 'started')
      .map(({ turn, at, ownerProcess }) => ({ ...turn, at, ownerProcess })),
  }
}

function eligible(entry: AutostartEntry, key: TurnKey): Known {
  return {
    turn: { ...key, workspace: entry.workspace ?? null, device: entry.device ?? null, launches: 0 },
    standing: 'waiting',
    at: entry.at,
    ownerProcess: null,
  }
}

function advance(known: Known, entry: AutostartEntry): void {
  switch (entry.event) {
    case 'started':
      known.standing = 'started'
      known.at = entry.at
      known.ownerProcess = entry.owner_process ?? null
      known.turn = { ...known.turn, launches: known.turn.launches + 1 }
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
