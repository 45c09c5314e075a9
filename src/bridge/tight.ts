import type { Entry } from '../commands/journal-entry.ts'
import { archiveEntriesMax, journalEntriesMax } from '../limits.ts'
import type { Archive } from '../store/archive.ts'
import { type Filling, isTight } from '../store/tasks/fillings.ts'
import type { TaskStore } from '../store/tasks/store.ts'

/**
 * What of a task store is at least 80 % full, in words, with what to do: `tasks: 900 of 1,024 used; …`.
 * @see spec/store.md §6a
 */
export async function tightStore(
  tasks: Pick<TaskStore, 'fillings'>,
  archive: Pick<Archive, 'list'>,
): Promise<string[]> {
  const archived = { what: 'archived tasks', used: (await archive.list()).size, max: archiveEntriesMax }
  const tight = [...(await tasks.fillings()), archived].filter(isTight)
  return tight.map((filling) => `${said(filling)}; ${remedy(filling)}`)
}

/** The same of the entries of a command journal. What was applied does not count: a full journal drops it by itself. */
export function tightJournal(entries: readonly Entry[]): string[] {
  const used = entries.filter(({ state }) => state.state !== 'done' || state.outcome !== 'applied').length
  const filling = { what: 'commands in the journal that were not applied', used, max: journalEntriesMax }
  return isTight(filling) ? [`${said(filling)}; those that are decided go after 48 hours`] : []
}

function said({ what, used, max, task }: Filling): string {
  const of = task === undefined ? '' : ` of task ${task}`
  return `${what}${of}: ${used.toLocaleString('en')} of ${max.toLocaleString('en')} used`
}

function remedy({ task }: Filling): string {
  return task === undefined ? 'when every task has ended: drawbridge store rotate' : 'go on in a new task'
}
