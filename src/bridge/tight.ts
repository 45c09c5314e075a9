import type { Entry } from '../commands/journal-entry.ts'
import { archiveEntriesMax, journalEntriesMax } from '../limits.ts'
import type { Archive } from '../store/archive.ts'
import { type Filling, isTight } from '../store/tasks/fillings.ts'
import type { TaskStore } from '../store/tasks/store.ts'

/**
 * What is at least 80 % full, in words, with what to do: `tasks: 900 of 1,024 used; …`.
 * @param entries those of the command journal
 * @see spec/store.md §6a
 */
export async function tightCapacities(
  tasks: Pick<TaskStore, 'fillings'>,
  archive: Pick<Archive, 'list'>,
  entries: readonly Entry[],
): Promise<string[]> {
  const fillings: Filling[] = [
    ...(await tasks.fillings()),
    { what: 'archived tasks', used: (await archive.list()).size, max: archiveEntriesMax },
  ]
  // A full journal drops what was applied by itself.
  const lasting = entries.filter(({ state }) => state.state !== 'done' || state.outcome !== 'applied').length
  const journal = {
    what: 'commands in the journal that were not applied',
    used: lasting,
    max: journalEntriesMax,
  }
  return [
    ...fillings.filter(isTight).map((filling) => `${said(filling)}; ${remedy(filling)}`),
    ...(isTight(journal) ? [`${said(journal)}; those that are decided go after 48 hours`] : []),
  ]
}

function said({ what, used, max, task }: Filling): string {
  const of = task === undefined ? '' : ` of task ${task}`
  return `${what}${of}: ${used.toLocaleString('en')} of ${max.toLocaleString('en')} used`
}

function remedy({ task }: Filling): string {
  return task === undefined ? 'when every task has ended: drawbridge store rotate' : 'go on in a new task'
}
