import { carryJournal, readJournal } from '../commands/journal-store.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import { type Rotation, rotateStore } from '../store/tasks/rotate.ts'
import { checkHome, withModeHints } from './home-check.ts'
import { homePaths } from './paths.ts'
import { requireServeSettings } from './serve-settings.ts'
import { takeServiceLock } from './service-lock.ts'

/**
 * Puts the task store of a home aside and begins a new one, while no service runs. Commands that were decided go along,
 * so that one that comes again is told what became of it.
 *
 * Refuses `already_running`, `conflict` while a command is not decided, and as `rotateStore` does.
 * @param pid this process
 * @see spec/store.md §6a
 */
export async function rotateTasks(
  { disk, clock }: { readonly disk: Disk; readonly clock: Clock },
  home: string,
  pid: number,
): Promise<Rotation> {
  const paths = homePaths(home)
  return await withModeHints(home, async () => {
    await checkHome(disk, home)
    await requireServeSettings(disk, paths)
    await disk.makeDirectory(paths.run)
    const lock = await takeServiceLock(disk, paths, pid)
    try {
      await refuseUndecided(disk, paths.tasks)
      const rotation = await rotateStore(disk, clock, paths.tasks, (next) =>
        carryJournal(disk, paths.tasks, next),
      )
      // It names tasks that are gone now, and its room is that of one store.
      await disk.remove(paths.told)
      return rotation
    } finally {
      await lock.release()
    }
  })
}

async function refuseUndecided(disk: Disk, tasks: string): Promise<void> {
  const { entries } = (await readJournal(disk, tasks)) ?? { entries: [] }
  const undecided = entries.filter(({ state }) => state.state !== 'done')
  const [first] = undecided
  if (first === undefined) return
  const which = `${undecided.length} ${undecided.length === 1 ? 'command is' : 'commands are'} not decided`
  throw new Refusal('conflict', `${which}, the first for task ${first.request.task}`, {
    hint: `drawbridge commands list ${first.request.task}`,
  })
}
