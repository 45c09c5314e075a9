import { traceBytesMax } from '../limits.ts'
import { isRefusal } from '../protocol/refusal.ts'
import type { Disk, DiskLock } from '../seams/disk.ts'
import { sha256Digest } from '../store/digest.ts'
import { traceFile } from '../store/tasks/derived.ts'
import type { HostEvent } from '../store/tasks/host-event.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import type { Run, Task } from '../store/tasks/task.ts'
import { ownerProcessEnded } from '../store/tasks/words.ts'
import { pathsOverlap } from './probe/paths.ts'
import { groupMembers, isAlive, livingOf, readIdentity } from './supervise/process-identity.ts'
import { readProcessFile } from './turn-files.ts'

/** What settling and recovering need. */
export interface SettleDeps {
  readonly disk: Disk
  readonly tasks: TaskStore
}

/**
 * Ends the record of a run whose owner and processes are gone. It never kills, reruns or deletes; a live owner or a
 * living process of the run leaves everything as it is.
 * @returns the task as it then stands, or null when there was nothing to end
 * @see spec/execution.md §10
 */
export async function settle(deps: SettleDeps, taskId: string): Promise<Task | null> {
  if (!isSettleable(await deps.tasks.show(taskId))) return null
  const owner = await probeOwner(deps, taskId)
  if (owner === null) return null
  try {
    const task = await deps.tasks.show(taskId)
    const { run } = task
    if (run === undefined || !isSettleable(task) || (await isRunAlive(deps, task, run))) return null
    if (run.result !== null) {
      return await deps.tasks.record(taskId, { type: 'check_owner_lost' }, run.epoch + 1, owner)
    }
    return await deps.tasks.record(taskId, await lostResult(deps, task), run.epoch, owner)
  } finally {
    await owner.release()
  }
}

/**
 * Settles every task that it can. What goes wrong with one is left for the next time.
 * @returns the tasks that it ended
 */
export async function settleAll(deps: SettleDeps): Promise<Task[]> {
  return settleThose(deps, await deps.tasks.list())
}

/** Settles every other task whose run overlaps `workspace`, before a run is admitted there. */
export async function settleOverlapping(
  deps: SettleDeps,
  workspace: string,
  exceptTask: string,
): Promise<void> {
  const tasks = await deps.tasks.list()
  const others = tasks.filter(
    ({ task_id, run }) =>
      task_id !== exceptTask && run !== undefined && pathsOverlap(run.admission.workspace, workspace),
  )
  await settleThose(deps, others)
}

/** Whether a run is recorded that nothing has ended yet. Pure. */
export function isSettleable(task: Task): boolean {
  if (task.run === undefined) return false
  if (task.run.result === null) {
    return task.status === 'running' || task.status === 'cancel_requested' || task.status === 'unknown'
  }
  return task.checks === 'running'
}

async function settleThose(deps: SettleDeps, tasks: readonly Task[]): Promise<Task[]> {
  const ended: Task[] = []
  for (const task of tasks) {
    if (!isSettleable(task)) continue
    const settled = await settle(deps, task.task_id).catch(() => null)
    if (settled !== null) ended.push(settled)
  }
  return ended
}

/** The owner's lock, or null while an owner lives. */
async function probeOwner({ tasks, disk }: SettleDeps, taskId: string): Promise<DiskLock | null> {
  try {
    return await disk.lock(tasks.ownerLockPath(taskId), 0)
  } catch (error) {
    if (isRefusal(error, 'store_busy')) return null
    throw error
  }
}

/**
 * Whether a process of the run may be alive. The process file counts even when the store never learned of the
 * process: that gap is where an owner can die. Without the file a recorded number is all there is.
 */
async function isRunAlive({ disk, tasks }: SettleDeps, task: Task, run: Run): Promise<boolean> {
  const identity = await readProcessFile(disk, tasks.dir, task)
  if (identity !== null && identity !== 'unreadable') return livingOf(identity).length > 0
  if (run.process_id === null) return false
  const there = readIdentity(run.process_id)
  return (there !== null && isAlive(there)) || groupMembers(run.process_id).length > 0
}

async function lostResult({ disk, tasks }: SettleDeps, task: Task): Promise<HostEvent> {
  return {
    type: 'result',
    result: {
      ending: ownerProcessEnded,
      exit_code: null,
      stop_requested: task.status === 'cancel_requested' || task.cancellation_reason !== null,
      group_clear: true,
      elapsed_ms: 0,
      trace_digest: sha256Digest(await traceAsLeft(disk, `${tasks.dir}/${traceFile(task)}`)),
      candidate_snapshot: null,
      artifact_file: null,
      artifact_digest: null,
      output_incomplete: true,
      cost_status: 'unknown',
    },
  }
}

/** The trace's bytes, none when it is absent or nothing that we may read: the view then says which. */
async function traceAsLeft(disk: Disk, path: string): Promise<Uint8Array> {
  try {
    return (await disk.read(path, traceBytesMax)) ?? new Uint8Array(0)
  } catch (error) {
    if (isRefusal(error, 'unsafe_path') || isRefusal(error, 'limit_exceeded')) return new Uint8Array(0)
    throw error
  }
}
