import { describe, expect, it } from 'vitest'
import type { Decision } from '../../src/commands/decide.ts'
import { type CommandKind, commandKinds } from '../../src/commands/journal-entry.ts'
import {
  applied,
  type Case,
  cancel,
  cancelThenContinue,
  continues,
  correct,
  decideCase,
  everyCase,
  hold,
  holdFirst,
  rejected,
  superseded,
} from './decision-cases.ts'

interface Rule {
  kind: CommandKind
  row: string
  holds(of: Case): boolean
  decision: Decision
}

const free = (of: Case) => of.phase === 'ended' && !of.heldAhead
const busy = (of: Case) => of.phase === 'running' || of.phase === 'stopping'
const steersNow = (of: Case) => !of.endedTurn && busy(of)

/** The table of the page, row by row; of one kind the first row that holds decides. */
const rules: readonly Rule[] = [
  {
    kind: 'interrupt',
    row: 'a newer undecided interrupt',
    holds: (of) => of.newerInterrupt,
    decision: superseded,
  },
  { kind: 'interrupt', row: 'its turn is over', holds: (of) => of.endedTurn, decision: superseded },
  { kind: 'interrupt', row: 'pending', holds: (of) => of.phase === 'pending', decision: cancel },
  { kind: 'interrupt', row: 'running', holds: (of) => of.phase === 'running', decision: cancel },
  { kind: 'interrupt', row: 'stopping', holds: (of) => of.phase === 'stopping', decision: superseded },
  {
    kind: 'interrupt',
    row: 'ended by itself',
    holds: (of) => of.phase === 'ended' && of.endedIt,
    decision: applied,
  },
  { kind: 'interrupt', row: 'ended', holds: (of) => of.phase === 'ended', decision: superseded },
  {
    kind: 'interrupt',
    row: 'unknown',
    holds: (of) => of.phase === 'unknown',
    decision: rejected('unavailable'),
  },

  { kind: 'send', row: 'ended, nothing held ahead', holds: free, decision: continues },
  { kind: 'send', row: 'unknown', holds: (of) => of.phase === 'unknown', decision: rejected('unavailable') },
  { kind: 'send', row: 'anything else', holds: () => true, decision: rejected('conflict') },

  { kind: 'queue', row: 'paused', holds: (of) => of.paused, decision: hold },
  { kind: 'queue', row: 'ended, nothing held ahead', holds: free, decision: continues },
  { kind: 'queue', row: 'anything else', holds: () => true, decision: hold },

  { kind: 'steer', row: 'unknown', holds: (of) => of.phase === 'unknown', decision: rejected('unavailable') },
  { kind: 'steer', row: 'a new turn', holds: free, decision: continues },
  { kind: 'steer', row: 'ended, held ahead', holds: (of) => of.phase === 'ended', decision: holdFirst },
  { kind: 'steer', row: 'its turn is over, another is on', holds: (of) => of.endedTurn, decision: holdFirst },
  { kind: 'steer', row: 'pending', holds: (of) => of.phase === 'pending', decision: correct },
  {
    kind: 'steer',
    row: 'native, the engine steers',
    holds: (of) => steersNow(of) && !of.emulate && of.native === 'mid_turn',
    decision: correct,
  },
  {
    kind: 'steer',
    row: 'native, the engine does not',
    holds: (of) => steersNow(of) && !of.emulate,
    decision: rejected('unsupported'),
  },
  {
    kind: 'steer',
    row: 'running, emulated',
    holds: (of) => of.phase === 'running' && of.emulate && of.emulation !== null,
    decision: cancelThenContinue,
  },
  {
    kind: 'steer',
    row: 'stopping, emulated',
    holds: (of) => of.phase === 'stopping' && of.emulate && of.emulation !== null,
    decision: holdFirst,
  },
  {
    kind: 'steer',
    row: 'emulation asked, none',
    holds: (of) => of.emulate && of.emulation === null,
    decision: rejected('unsupported'),
  },

  {
    kind: 'answer',
    row: 'unknown',
    holds: (of) => of.phase === 'unknown',
    decision: rejected('unavailable'),
  },
  { kind: 'answer', row: 'its turn is over', holds: (of) => of.endedTurn, decision: rejected('stale') },
  {
    kind: 'answer',
    row: 'a question waits',
    holds: (of) => free(of) && of.question !== null,
    decision: continues,
  },
  { kind: 'answer', row: 'anything else', holds: () => true, decision: rejected('conflict') },
]

describe('decide, by the table of the page', () => {
  const hits = new Map<Rule, number>()

  for (const kind of commandKinds) {
    it(`answers every combination of ${kind} with its row`, () => {
      for (const of of everyCase(kind)) {
        const rule = rules.find((candidate) => candidate.kind === kind && candidate.holds(of))
        if (rule === undefined) throw new Error(`no row for ${JSON.stringify(of)}`)
        hits.set(rule, (hits.get(rule) ?? 0) + 1)
        expect(decideCase(of), `${rule.row}: ${JSON.stringify(of)}`).toEqual(rule.decision)
      }
    })
  }

  it('every row of the table was reached', () => {
    expect(rules.filter((rule) => !hits.has(rule)).map((rule) => `${rule.kind}: ${rule.row}`)).toEqual([])
  })
})
