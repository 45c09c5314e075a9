import { readEvidence } from '../../host/trace/evidence.ts'
import type { ViewCursor } from '../../host/trace/view-cursor.ts'
import { viewStepsMax } from '../../limits.ts'
import { pause } from '../../seams/clock.ts'
import { realDisk } from '../../store/disk.ts'
import { taskInTurn, turnOf } from '../../store/tasks/derived.ts'
import type { TaskStore } from '../../store/tasks/store.ts'
import type { Task } from '../../store/tasks/task.ts'
import { withStore } from '../deps.ts'
import type { Door } from '../door.ts'
import { knownTask } from '../known-task.ts'
import { jsonLine } from '../printable.ts'
import { stepsText } from '../steps.ts'

const followMs = 200

/**
 * Prints the steps of the turn that is the current one now, as they are written, until that turn has its result and
 * the last of them is printed, whether or not the next turn has begun meanwhile. A turn that waits is waited for. With
 * `--json` each step is one line. Refuses `not_found`.
 */
export async function follow(door: Door, id: string, options: { store?: string | undefined }): Promise<null> {
  const whole = await knownTask(door, options.store, id)
  await withStore(door, options.store, (store) => followTurn(door, store, whole), { readOnly: true })
  return null
}

async function followTurn(door: Door, store: TaskStore, id: string): Promise<void> {
  let task = await store.show(id)
  const turn = turnOf(task)
  if (task.status === 'queued' && !door.json) door.err(`turn ${turn} has not started; waiting for it\n`)
  for (let cursor: ViewCursor | null = null; ; task = await store.show(id)) {
    // The task is read first: a turn that it calls over has all of its steps on disk already.
    const then = taskInTurn(task, turn) ?? task
    const evidence = await readEvidence(realDisk, store.dir, then, { limit: viewStepsMax, cursor })
    for (const step of evidence.steps) door.out(door.json ? jsonLine(step) : stepsText([step]))
    cursor = evidence.next ?? cursor
    if (evidence.more_available) continue
    if (turnOf(task) > turn || isOver(task)) return
    await pause(door.clock, followMs)
  }
}

/** Whether the current turn will print nothing more. */
function isOver({ run, status }: Task): boolean {
  return run === undefined ? status !== 'queued' : run.result !== null || status === 'unknown'
}
