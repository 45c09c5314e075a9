import { Refusal } from '../protocol/refusal.ts'
import type { Clock } from '../seams/clock.ts'
import type { Disk } from '../seams/disk.ts'
import { parseExecutionGrant } from '../store/tasks/grant.ts'
import type { TaskStore } from '../store/tasks/store.ts'
import { checkCurrent } from './owner/current.ts'
import type { LaunchedOwner, Launcher } from './supervise/launch-owner.ts'

/** What starting a turn needs. */
export interface StartDeps {
  readonly disk: Disk
  readonly clock: Clock
  readonly tasks: TaskStore
  readonly launcher: Launcher
  /** The launcher's own process ID: it names the files that are kept. */
  readonly pid: number
}

/** An owner that was started; nothing is admitted yet. @see spec/task-cli.md */
export interface Launch {
  readonly task_id: string
  readonly owner_process: number
  readonly admission: 'pending'
  readonly diagnostic_path: string
  readonly message: string
}

/**
 * Starts the detached owner of a turn and returns without waiting for it. The exact grant and an empty diagnostic are
 * durable first; admission or refusal is read later, from the task and from the diagnostic's one line.
 * Refuses with the grant's own codes, `invalid_transition`, `revision_mismatch` or `io`.
 * @see spec/execution.md §12
 */
export async function startTask(
  deps: StartDeps,
  grantBytes: Uint8Array,
): Promise<{ launch: Launch; owner: LaunchedOwner }> {
  const { grant } = parseExecutionGrant(grantBytes)
  checkCurrent(await deps.tasks.show(grant.task_id), grant)
  const { saved, diagnostic } = await keepFiles(deps, grant.task_id, grantBytes)
  const owner = await deps.launcher.launch({
    storeDir: deps.tasks.dir,
    grantPath: saved,
    diagnosticPath: diagnostic,
  })
  return {
    owner,
    launch: {
      task_id: grant.task_id,
      owner_process: owner.pid,
      admission: 'pending',
      diagnostic_path: diagnostic,
      message: 'Owner process started; see show and the diagnostic for admission.',
    },
  }
}

/**
 * Makes the two files that outlive the launch. Their name holds the time, so two launches within one millisecond take
 * the next free one.
 */
async function keepFiles(
  { disk, clock, tasks, pid }: StartDeps,
  taskId: string,
  grantBytes: Uint8Array,
): Promise<{ saved: string; diagnostic: string }> {
  for (let at = clock.nowMs(); ; at += 1) {
    const name = `${tasks.dir}/launch-${taskId}-${pid}-${at}`
    const saved = `${name}.grant.json`
    if (!(await disk.create(saved, grantBytes))) continue
    const diagnostic = `${name}.jsonl`
    if (await disk.create(diagnostic, new Uint8Array(0))) return { saved, diagnostic }
    throw new Refusal('io', `${diagnostic} exists already`)
  }
}
