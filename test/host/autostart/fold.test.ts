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
    expect(state.knows({ task: 'a', start: 4 })).toBe(true)
    expect(state.knows({ task: 'a', start: 5 })).toBe(false)
  })

  it.each(['skipped', 'refused', 'no_capacity', 'ended', 'not_started'] as const)(
    '%s decides a turn',
    (event) => {
      const state = fold({ event: 'eligible', task: t }, { event, task: t }, { event: 'eligible', task: t })
      expect(state.waiting).toEqual([])
      expect(state.started).toEqual([])
      expect(state.knows({ task: t, start: 1 })).toBe(true)
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
