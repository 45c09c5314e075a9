import { Refusal } from '../../protocol/refusal.ts'
import type { DiskLock } from '../../seams/disk.ts'
import { effectId } from '../../store/tasks/derived.ts'
import { pinProgram } from '../probe/program.ts'
import { takeSnapshot } from '../snapshot/take.ts'
import type { EngineRun } from '../supervise/engine.ts'
import { effectStep } from '../trace/run-steps.ts'
import type { TraceWriter } from '../trace/writer.ts'
import { writeProcessFile, writeTurnFolder } from '../turn-files.ts'
import type { Admitted } from './admit.ts'
import type { Ownership } from './execute.ts'

/**
 * Starts the command of an admitted turn, once. The intent is durable before it, its process is durably recorded before
 * it begins, and the task's write lock is held from the last look for a cancel until then: a cancel that was accepted
 * earlier starts nothing.
 * @returns null when the turn was cancelled before its command began
 * @throws `invalid_command` or `unsafe_path` when the workspace or the program changed since the admission
 * @see spec/execution.md §4, steps 13 to 16
 */
export async function dispatch(
  ownership: Ownership,
  admitted: Admitted,
  trace: TraceWriter,
): Promise<EngineRun | null> {
  const { deps, recorder, lock, taskId } = ownership
  if (await isCancelled(ownership)) return null
  const effect = effectId(admitted.task)
  await recorder.record({ type: 'effect_intent', effect_id: effect }, lock)
  await trace.step(effectStep(effect))
  await checkUnchanged(admitted)
  const turnFolder = await writeTurnFolder(deps.disk, recorder.store().dir, admitted.task)
  const hold = await recorder.store().lockTask(taskId)
  try {
    if (await isCancelled(ownership)) return null
    const run = await startCommand(ownership, admitted, turnFolder)
    await recordSpawned(ownership, admitted, run, hold)
    return run
  } finally {
    await hold.release()
  }
}

/** The command is held until its process is durably known; a failure to record it lets it never begin. */
async function recordSpawned(
  { deps, recorder, lock }: Ownership,
  { task }: Admitted,
  run: EngineRun,
  hold: DiskLock,
): Promise<void> {
  try {
    if (run.process === null) return
    await writeProcessFile(deps.disk, recorder.store().dir, task, run.process)
    await recorder.record({ type: 'spawned', process_id: run.process.pid }, lock, hold)
    await run.begin()
  } catch (error) {
    run.stop()
    await run.ended
    throw error
  }
}

/** Whether the turn is to stop, by what the store says now. */
export async function isCancelled({ recorder, taskId }: Ownership): Promise<boolean> {
  return (await recorder.store().show(taskId)).status === 'cancel_requested'
}

function startCommand({ deps }: Ownership, admitted: Admitted, turnFolder: string): Promise<EngineRun> {
  const { grant, boundary, admission } = admitted
  return deps.engine.start({
    boundary,
    program: grant.program,
    arguments: grant.arguments,
    workspace: admission.workspace,
    turnFolder,
    wallSeconds: grant.wall_seconds,
    streamBytes: grant.stream_bytes,
    memoryBytes: grant.memory_bytes,
  })
}

/** What was pinned at admission must still be so; if not, nothing runs and nothing more is recorded. */
async function checkUnchanged({ admission }: Admitted): Promise<void> {
  const now = await takeSnapshot(admission.workspace)
  if (!now.complete || now.digest !== admission.source_snapshot) {
    throw new Refusal('invalid_command', 'the workspace changed after the admission; nothing was started')
  }
  if ((await pinProgram(admission.grant.program)) !== admission.program_digest) {
    throw new Refusal('invalid_command', 'the program changed after the admission; nothing was started')
  }
}
