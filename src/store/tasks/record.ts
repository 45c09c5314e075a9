import { Refusal } from '../../protocol/refusal.ts'
import { isIdentifier } from '../../protocol/text.ts'
import type { DiskLock } from '../../seams/disk.ts'
import { refuseFullFile } from './apply.ts'
import { applyEvent } from './events.ts'
import type { StoreHandle } from './handle.ts'
import { type HostEvent, hostEventSchema } from './host-event.ts'
import { readAllTasks } from './read.ts'
import { reserves, workspaceOf } from './reservation.ts'
import type { Task } from './task.ts'
import { type VerifiedTask, withEvent } from './task-file.ts'

/** A host event as it is to be recorded, with the locks that its recorder holds. */
export interface EventToRecord {
  readonly taskId: string
  readonly event: HostEvent
  readonly epoch: number
  readonly owner: DiskLock | undefined
  readonly hold: DiskLock | undefined
}

/** Records a host event, durably. @see spec/execution.md §3 */
export async function recordEvent(handle: StoreHandle, wanted: EventToRecord): Promise<Task> {
  await handle.check()
  const { taskId, owner, hold } = wanted
  const parsed = hostEventSchema.safeParse(wanted.event)
  if (!parsed.success) throw new Refusal('invalid_transition', 'the host event has another shape')
  if (!isIdentifier(taskId)) throw new Refusal('not_found', 'no such task')
  if (owner !== undefined) await refuseOtherLock(owner, handle.layout.ownerLock(taskId))
  if (hold !== undefined) await refuseOtherLock(hold, handle.layout.taskLock(taskId))
  const event = parsed.data
  const work = () => recordHolding(handle, taskId, event, wanted.epoch)
  if (hold !== undefined) return work()
  if ((await handle.disk.identity(handle.layout.taskFile(taskId))) === null) throw noSuchTask()
  return handle.locked(handle.layout.taskLock(taskId), work)
}

async function refuseOtherLock(lock: DiskLock, path: string): Promise<void> {
  if (lock.path === path && (await lock.stillThere())) return
  throw new Refusal('unsafe_path', `${path} is not the lock that is held`)
}

async function recordHolding(
  handle: StoreHandle,
  taskId: string,
  event: HostEvent,
  epoch: number,
): Promise<Task> {
  const before = await handle.tasks.load(taskId)
  if (before === null) throw noSuchTask()
  const commit = async () => {
    const task = applyEvent(before.task, event, epoch)
    if (event.type === 'admitted') refuseFullFile(before)
    await handle.commit(taskId, withEvent(before, { task, event, epoch }))
    return task
  }
  if (event.type !== 'admitted' && event.type !== 'check_intent') return commit()
  // Held through the write: of two admissions in one workspace, the second sees the first.
  return handle.locked(handle.layout.workspacesLock, async () => {
    await refuseReserved(handle, before, event)
    return commit()
  })
}

/** Refuses `workspace_busy` when another task reserves a workspace that overlaps the one this event reserves. */
async function refuseReserved(handle: StoreHandle, before: VerifiedTask, event: HostEvent): Promise<void> {
  const workspace =
    event.type === 'admitted' ? event.admission.workspace : (workspaceOf(before.task) ?? undefined)
  if (workspace === undefined) return
  const others = (await readAllTasks(handle)).filter((task) => task.task_id !== before.task.task_id)
  if (others.some((task) => reserves(task, workspace))) {
    throw new Refusal('workspace_busy', 'another task is still running in this project')
  }
}

function noSuchTask(): Refusal {
  return new Refusal('not_found', 'no such task')
}
