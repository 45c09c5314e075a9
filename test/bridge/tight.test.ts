import { describe, expect, it } from 'vitest'
import { tightJournal, tightStore } from '../../src/bridge/tight.ts'
import type { Entry, EntryState } from '../../src/commands/journal-entry.ts'
import type { ArchiveEntry } from '../../src/store/archive.ts'
import type { Filling } from '../../src/store/tasks/fillings.ts'

const stays: EntryState = { state: 'done', outcome: 'rejected', reason: 'conflict' }
const goes: EntryState = { state: 'done', outcome: 'applied', revision: 2 }
const entries = (count: number, state: EntryState) =>
  Array.from({ length: count }, () => ({ state }) as Entry)

const ofStore = (fillings: Filling[], archived = 0) =>
  tightStore(
    { fillings: async () => fillings },
    { list: async () => new Map(Array.from({ length: archived }, (_, i) => [`${i}`, {} as ArchiveEntry])) },
  )

describe('what is nearly full', () => {
  it('is nothing before 80 %, nor a journal of what was applied', async () => {
    expect(await ofStore([{ what: 'tasks', used: 819, max: 1_024 }], 819)).toEqual([])
    expect(tightJournal(entries(3_276, stays))).toEqual([])
    expect(tightJournal(entries(4_096, goes))).toEqual([])
  })

  it('says how much of what is used, and what to do about it', async () => {
    const full = [
      { what: 'tasks', used: 820, max: 1_024 },
      { what: 'turns', used: 52, max: 64, task: 'task-1' },
    ]
    expect(await ofStore(full, 820)).toEqual([
      'tasks: 820 of 1,024 used; when every task has ended: drawbridge store rotate',
      'turns of task task-1: 52 of 64 used; go on in a new task',
      'archived tasks: 820 of 1,024 used; when every task has ended: drawbridge store rotate',
    ])
    expect(tightJournal(entries(3_277, stays))).toEqual([
      'commands in the journal that were not applied: 3,277 of 4,096 used; those that are decided go after 48 hours',
    ])
  })
})
