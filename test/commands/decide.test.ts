import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide } from '../../src/commands/decide.ts'
import { commandKinds } from '../../src/commands/journal-entry.ts'
import {
  around,
  type Case,
  cancelThenContinue,
  continues,
  day,
  decideCase,
  entryOf,
  expired,
  hold,
  now,
  phases,
  rejected,
  row,
  superseded,
  viewOf,
} from './decision-cases.ts'
import '../support/fuzz.ts'

describe('decide, before the table', () => {
  const running = viewOf({ phase: 'running' })

  it('skips what is done already, whatever else is true', () => {
    for (const outcome of ['expired', 'superseded', 'cancelled'] as const) {
      const entry = entryOf({ state: { state: 'done', outcome } })
      expect(decide(entry, running, row(), around({ standing: false }))).toEqual({ type: 'skip' })
    }
  })

  it('expires after 24 hours, to the second', () => {
    const entry = entryOf({ issued_at: now - day })
    expect(decide(entry, running, row(), around())).toEqual(hold)
    expect(decide(entry, running, row(), around({ now: now + 1 }))).toEqual(expired)
  })

  it('rejects what is dated more than five minutes ahead', () => {
    expect(decide(entryOf({ issued_at: now + 300 }), running, row(), around())).toEqual(hold)
    expect(decide(entryOf({ issued_at: now + 301 }), running, row(), around())).toEqual(rejected('bounds'))
  })

  it('rejects a sender who no longer stands, after the age was looked at', () => {
    const gone = around({ standing: false })
    expect(decide(entryOf({}), running, row(), gone)).toEqual(rejected('revoked'))
    expect(decide(entryOf({ issued_at: now - day - 1 }), running, row(), gone)).toEqual(expired)
  })

  it('rejects everything but an interrupt on an archived task', () => {
    const archived = viewOf({ phase: 'ended', archived: true })
    for (const kind of commandKinds) {
      const decision = decide(entryOf({ kind }), archived, row(), around())
      expect(decision).toEqual(kind === 'interrupt' ? superseded : rejected('conflict'))
    }
  })
})

describe('decide, by what a message became', () => {
  it('uses the edited text', () => {
    const entry = entryOf({ kind: 'queue', edited: 'Then the index.' })
    const decision = decide(entry, viewOf({ phase: 'ended' }), row(), around())
    expect(decision).toEqual({ type: 'dispatch', effect: { type: 'continue', prompt: 'Then the index.' } })
  })

  it('treats a promoted message as a steer with emulation', () => {
    const entry = entryOf({ kind: 'queue', promoted: true })
    const emulating = row({ emulation: 'cancel_and_continue' })
    expect(decide(entry, viewOf({ phase: 'running' }), emulating, around())).toEqual(cancelThenContinue)
    expect(decide(entry, viewOf({ phase: 'running' }), row(), around())).toEqual(rejected('unsupported'))
    expect(decide(entry, viewOf({ phase: 'ended', paused: true }), row(), around())).toEqual(continues)
  })
})

describe('decide, always', () => {
  const any = fc.record<Case>({
    kind: fc.constantFrom(...commandKinds),
    emulate: fc.boolean(),
    phase: fc.constantFrom(...phases),
    endedTurn: fc.boolean(),
    newerInterrupt: fc.boolean(),
    heldAhead: fc.boolean(),
    endedIt: fc.boolean(),
    question: fc.constantFrom(null, 'question' as const, 'approval' as const),
    paused: fc.boolean(),
    native: fc.constantFrom('mid_turn' as const, 'turn_boundary' as const, 'unsupported' as const),
    emulation: fc.constantFrom(null, 'cancel_and_continue' as const),
  })
  const extra = fc.record({
    archived: fc.boolean(),
    standing: fc.boolean(),
    age: fc.integer({ min: -1_000, max: 2 * day }),
    promoted: fc.boolean(),
  })

  it('is total, repeatable, and changes nothing that it is given', () => {
    fc.assert(
      fc.property(any, extra, (of, more) => {
        const decision = decideCase(of, more)
        expect(['skip', 'hold', 'dispatch', 'done']).toContain(decision.type)
        expect(decideCase(of, more)).toEqual(decision)
      }),
    )
  })

  it('an unknown task never starts anything', () => {
    fc.assert(
      fc.property(any, extra, (of, more) => {
        expect(decideCase({ ...of, phase: 'unknown' }, more).type).not.toBe('dispatch')
      }),
    )
  })

  it('an interrupt never runs, queues or steers', () => {
    fc.assert(
      fc.property(any, extra, (of, more) => {
        const decision = decideCase(
          { ...of, kind: 'interrupt', emulate: false },
          { ...more, promoted: false },
        )
        expect(decision.type).not.toBe('hold')
        if (decision.type === 'dispatch') expect(decision.effect.type).toBe('cancel')
      }),
    )
  })

  it('a queued message never touches a turn that has not ended', () => {
    fc.assert(
      fc.property(any, extra, (of, more) => {
        const decision = decideCase({ ...of, kind: 'queue' }, { ...more, promoted: false })
        if (decision.type !== 'dispatch') return
        expect(decision.effect.type).toBe('continue')
        expect([of.phase, of.paused, of.heldAhead]).toEqual(['ended', false, false])
      }),
    )
  })

  it('a sender who does not stand, or a command out of its time, has no effect', () => {
    fc.assert(
      fc.property(any, extra, (of, more) => {
        const late = more.age > day || more.age < -300
        if (more.standing && !late) return
        expect(decideCase(of, more).type).toBe('done')
      }),
    )
  })

  it('a new turn begins only where the last has ended with nothing that runs first', () => {
    fc.assert(
      fc.property(any, extra, (of, more) => {
        const decision = decideCase(of, more)
        if (decision.type !== 'dispatch' || decision.effect.type !== 'continue') return
        expect([of.phase, of.heldAhead, more.archived]).toEqual(['ended', false, false])
      }),
    )
  })

  it('emulation is never chosen for the sender', () => {
    fc.assert(
      fc.property(any, extra, (of, more) => {
        const decision = decideCase(of, more)
        if (decision.type !== 'dispatch' || decision.effect.type !== 'cancel_then_continue') return
        expect(more.promoted || (of.kind === 'steer' && of.emulate)).toBe(true)
        expect(of.emulation).toBe('cancel_and_continue')
      }),
    )
  })
})
