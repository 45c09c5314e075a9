import { describe, expect, it } from 'vitest'
import { type NewAutostartEntry, readEntry, stamped } from '../../../src/host/autostart/entry.ts'
import { foldJournal } from '../../../src/host/autostart/fold.ts'

const fold = (...entries: NewAutostartEntry[]) => foldJournal(entries.map((entry, at) => stamped(entry, at)))
const t = 'task-1'

describe('folding the auto-start journal', () => {
  it('lets an eligible turn wait, in the order in which turns became eligible', () => {
    const state = fold(
      { event: 'eligible', task: 'b' },
      { event: 'eligible', task: 'a' },
      { event: 'eligible', task: 'a', turn: 4 },
    )
    expect(state.waiting).toEqual([
      { task: 'b', start: 1, launches: 0 },
      { task: 'a', start: 1, launches: 0 },
      { task: 'a', start: 4, launches: 0 },
    ])
    expect(state.find({ task: 'a', start: 4 })).toMatchObject({ standing: 'waiting', why: null })
    expect(state.find({ task: 'a', start: 5 })).toBeNull()
  })

  it.each(['skipped', 'refused', 'no_capacity', 'ended', 'not_started'] as const)(
    '%s decides a turn',
    (event) => {
      const state = fold({ event: 'eligible', task: t }, { event, task: t }, { event: 'eligible', task: t })
      expect(state.waiting).toEqual([])
      expect(state.started).toEqual([])
      expect(state.find({ task: t, start: 1 })).not.toBeNull()
    },
  )

  it('a skipped or refused turn is held; a policy said later makes it one to look at again, with all its launches', () => {
    const launched: NewAutostartEntry[] = [
      { event: 'policy_on' },
      { event: 'eligible', task: t },
      { event: 'started', task: t },
      { event: 'unadmitted', task: t, detail: 'io: no' },
      { event: 'retry', task: t },
    ]
    for (const event of ['skipped', 'refused'] as const) {
      const held: NewAutostartEntry[] = [...launched, { event, task: t, detail: 'the program changed' }]
      expect(fold(...held)).toMatchObject({ waiting: [], heldBefore: [] })
      expect(fold(...held).find({ task: t, start: 1 })).toMatchObject({
        standing: 'held',
        why: 'the program changed',
      })
      expect(fold(...held, { event: 'policy_on' })).toMatchObject({
        waiting: [],
        heldBefore: [{ task: t, start: 1 }],
      })
      const again = fold(...held, { event: 'policy_on' }, { event: 'retry', task: t })
      expect(again).toMatchObject({ waiting: [{ task: t, start: 1, launches: 0 }], heldBefore: [] })
    }
  })

  it.each(['the task is gone', 'the turn is no longer queued'])(
    'a turn that is skipped because %s stays so',
    (detail) => {
      const state = fold(
        { event: 'eligible', task: t },
        { event: 'skipped', task: t, detail },
        { event: 'policy_on' },
      )
      expect(state).toMatchObject({ waiting: [], heldBefore: [] })
    },
  )

  it('a started turn runs until its end is noted, with its owner and its time', () => {
    const started = fold({ event: 'eligible', task: t }, { event: 'started', task: t, owner_process: 42 })
    expect(started.waiting).toEqual([])
    expect(started.started).toEqual([{ task: t, start: 1, launches: 1, at: 1, ownerProcess: 42 }])
  })

  it('a retry lets it wait again and counts the launch, unless it was only postponed', () => {
    const begun: NewAutostartEntry[] = [
      { event: 'eligible', task: t },
      { event: 'started', task: t },
    ]
    const again = (detail: string) =>
      fold(...begun, { event: 'unadmitted', task: t, detail }, { event: 'retry', task: t }).waiting
    expect(again('io: no')).toEqual([{ task: t, start: 1, launches: 1 }])
    for (const code of ['workspace_busy', 'revision_mismatch', 'store_busy', 'disk_full']) {
      expect(again(`${code}: later`)).toEqual([{ task: t, start: 1, launches: 0 }])
    }
  })

  it('ignores what names no task and what names a turn that never was eligible', () => {
    const state = fold({ event: 'policy_on' }, { event: 'started', task: t }, { event: 'usage', task: t })
    expect(state).toMatchObject({ waiting: [], started: [] })
  })
})

describe('an entry of the journal', () => {
  it('reads back as it was stamped', () => {
    const entry = stamped({ event: 'eligible', task: t, device: 'd', workspace: 'demo' }, 5)
    expect(readEntry(JSON.stringify(entry))).toEqual(entry)
  })

  it.each(['', '{', '[]', '{"schema":"other","at":1,"event":"ended"}', '{"at":1,"event":"ended"}'])(
    'a line that is none is nothing: %j',
    (line) => expect(readEntry(line)).toBeNull(),
  )
})
