import { readView } from '../../host/trace/view.ts'
import type { ViewCursor } from '../../host/trace/view-cursor.ts'
import { viewStepsMax } from '../../limits.ts'
import { pause } from '../../seams/clock.ts'
import { realDisk } from '../../store/disk.ts'
import type { Task } from '../../store/tasks/task.ts'
import { withStore } from '../deps.ts'
import type { Door } from '../door.ts'
import { jsonLine } from '../printable.ts'
import { stepsText } from '../steps.ts'

const followMs = 200

/**
 * Prints the steps of the current turn as they are written, until the turn has its result. With `--json` each step
 * is one line. Refuses `not_found`.
 */
export async function follow(door: Door, id: string, options: { store?: string | undefined }): Promise<null> {
  await withStore(
    door,
    options.store,
    async (store) => {
      let cursor: ViewCursor | null = null
      for (;;) {
        // Read the task first: what it says is over has all of its steps on disk already.
        const ended = isOver(await store.show(id))
        const { evidence } = await readView(realDisk, store, id, { limit: viewStepsMax, cursor })
        for (const step of evidence.steps) door.out(door.json ? jsonLine(step) : stepsText([step]))
        cursor = evidence.next
        if (ended && !evidence.more_available) return
        if (!evidence.more_available) await pause(door.clock, followMs)
      }
    },
    { readOnly: true },
  )
  return null
}

function isOver({ run, status }: Task): boolean {
  return run === undefined ? status !== 'queued' : run.result !== null || status === 'unknown'
}
