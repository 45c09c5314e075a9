import { traceBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { sha256Digest } from '../../store/digest.ts'
import type { RunResult, Task } from '../../store/tasks/task.ts'
import { retainArtifacts } from '../artifacts/retain.ts'
import type { Snapshot } from '../snapshot/entry.ts'
import { takeSnapshot } from '../snapshot/take.ts'
import { errorsStep, resultStep } from '../trace/run-steps.ts'
import type { TraceWriter } from '../trace/writer.ts'
import type { Admitted } from './admit.ts'
import type { Ownership } from './execute.ts'
import type { Watched } from './watch.ts'

type Ending = Omit<RunResult, 'trace_digest' | 'candidate_snapshot' | 'artifact_file' | 'artifact_digest'>

/**
 * Ends a turn: what the command left behind is kept, the trace is ended and sealed by its digest, the result recorded.
 * @param watched null when no command was started
 * @see spec/execution.md §4, step 18
 */
export async function finish(
  ownership: Ownership,
  admitted: Admitted,
  trace: TraceWriter,
  watched: Watched | null,
): Promise<Task> {
  const { deps, recorder, lock } = ownership
  if (watched !== null) await trace.step(errorsStep(watched.end.stderr))
  const ending = watched === null ? cancelledBeforeDispatch : endingOf(watched)
  const candidate = ending.group_clear ? await keepCandidate(ownership, admitted) : noCandidate
  const unsealed = resultOf(ending, candidate)
  await trace.step(resultStep(unsealed, watched === null ? null : limitsOf(watched)))
  await trace.end()
  const bytes = await deps.disk.read(trace.path, traceBytesMax)
  if (bytes === null) throw new Refusal('io', 'the trace is gone')
  return recorder.record({ type: 'result', result: { ...unsealed, trace_digest: sha256Digest(bytes) } }, lock)
}

const cancelledBeforeDispatch: Ending = {
  ending: 'cancelled_before_dispatch',
  exit_code: null,
  stop_requested: true,
  group_clear: true,
  elapsed_ms: 0,
  output_incomplete: false,
  cost_status: 'unknown',
}

/** A run that ended for want of disk was not asked to stop: it failed. */
function endingOf({ end, outputLost, diskFull }: Watched): Ending {
  return {
    ending: diskFull ? 'disk_full' : end.ending,
    exit_code: diskFull ? null : end.exit_code,
    stop_requested: !diskFull && end.stop_requested,
    group_clear: end.group_clear,
    elapsed_ms: end.elapsed_ms,
    output_incomplete: outputLost,
    cost_status: 'unknown',
  }
}

interface Candidate {
  readonly candidate_snapshot: string | null
  readonly artifact_file: string | null
  readonly artifact_digest: string | null
}

const noCandidate: Candidate = { candidate_snapshot: null, artifact_file: null, artifact_digest: null }

/** Keeps what the command changed; a workspace that is gone or unreadable leaves nothing to keep. */
async function keepCandidate({ deps, recorder }: Ownership, { before }: Admitted): Promise<Candidate> {
  const after = await snapshotIfThere(before.root)
  if (after === null) return noCandidate
  const kept = await retainArtifacts(deps.disk, recorder.store().dir, before, after)
  return {
    candidate_snapshot: after.complete ? after.digest : null,
    artifact_file: kept.artifact_file,
    artifact_digest: kept.artifact_digest,
  }
}

async function snapshotIfThere(root: string): Promise<Snapshot | null> {
  try {
    return await takeSnapshot(root)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** The result in the order in which it is stored, its trace not yet sealed. */
function resultOf(ending: Ending, candidate: Candidate): RunResult {
  return {
    ending: ending.ending,
    exit_code: ending.exit_code,
    stop_requested: ending.stop_requested,
    group_clear: ending.group_clear,
    elapsed_ms: ending.elapsed_ms,
    trace_digest: '',
    ...candidate,
    output_incomplete: ending.output_incomplete,
    cost_status: ending.cost_status,
  }
}

/** What bounded the run, which the result itself has no place for. */
function limitsOf({ end }: Watched): object {
  return { ...end.enforced, memory_exceeded: end.memory_exceeded }
}
