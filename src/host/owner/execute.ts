import { Refusal } from '../../protocol/refusal.ts'
import type { Clock } from '../../seams/clock.ts'
import type { Disk, DiskLock } from '../../seams/disk.ts'
import { sessionId } from '../../store/tasks/derived.ts'
import { type ParsedGrant, parseExecutionGrant } from '../../store/tasks/grant.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { DiskSpace } from '../probe/disk-space.ts'
import type { Engine } from '../supervise/engine.ts'
import { createTrace, type TraceWriter } from '../trace/writer.ts'
import { type Admitted, admit } from './admit.ts'
import { dispatch } from './dispatch.ts'
import { finish } from './finish.ts'
import { appendOpening } from './opening.ts'
import { takeOwnerLock } from './owner-lock.ts'
import { openRecorder, type Recorder } from './recorder.ts'
import { watchRun } from './watch.ts'

/** What an owner process is handed. */
export interface OwnerDeps {
  readonly disk: Disk
  readonly clock: Clock
  readonly engine: Engine
  readonly storeDir: string
  /** The home directory: no command ever sees it. */
  readonly home: string
  /** The product's version, as the trace names it. */
  readonly version: string
  /** Measures the disk under the store; null when it cannot be known. */
  measureDisk(directory: string): Promise<DiskSpace | null>
}

/** One owner at work. */
export interface Ownership {
  readonly deps: OwnerDeps
  readonly recorder: Recorder
  readonly lock: DiskLock
  readonly taskId: string
}

/**
 * Owns one turn: admits it, runs its command inside the boundary, and records how it ended. It resolves with the task
 * whatever the ending; a refusal before admission records nothing. What is thrown after admission leaves a run without
 * a result, for settle and recover.
 * @see spec/execution.md §4
 */
export async function executeGrant(deps: OwnerDeps, grantBytes: Uint8Array): Promise<Task> {
  const parsed = parseExecutionGrant(grantBytes)
  if (parsed.grant.adapter_configuration !== null) {
    throw new Refusal('invalid_command', 'a bounded command takes no adapter configuration')
  }
  const taskId = parsed.grant.task_id
  const recorder = await openRecorder(deps.disk, deps.clock, deps.storeDir, taskId)
  try {
    const lock = await takeOwnerLock(deps.disk, recorder.store(), taskId)
    try {
      return await own({ deps, recorder, lock, taskId }, parsed)
    } finally {
      await lock.release()
    }
  } finally {
    await recorder.close()
  }
}

async function own(ownership: Ownership, parsed: ParsedGrant): Promise<Task> {
  const admitted = await admit(ownership, parsed)
  const trace = await openTrace(ownership, admitted)
  try {
    await appendOpening(trace, admitted)
    const run = await dispatch(ownership, admitted, trace)
    const watched = run === null ? null : await watchRun(ownership, run, trace)
    return await finish(ownership, admitted, trace, watched)
  } finally {
    await trace.close()
  }
}

function openTrace({ deps, recorder }: Ownership, { task, admission }: Admitted): Promise<TraceWriter> {
  return createTrace(deps.disk, deps.clock, `${recorder.store().dir}/${admission.trace_file}`, {
    id: sessionId(task),
    model: task.intent.configuration.model ?? 'none',
    door: admission.adapter,
    repository: admission.workspace,
    directive: '',
    state: '',
    seconds: 0,
    version: deps.version,
  })
}
