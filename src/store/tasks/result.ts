import type { RunResult, Task } from './task.ts'
import type { ExecutionState } from './words.ts'

const sha256 = /^sha256:[0-9a-f]{64}$/

/** Which part of a result does not hold together, or null. @see spec/execution.md §2, spec/evidence.md §6 */
export function resultFault(result: RunResult): string | null {
  if (!sha256.test(result.trace_digest)) return 'trace_digest'
  if (result.candidate_snapshot !== null && !/^[0-9a-f]{64}$/.test(result.candidate_snapshot)) {
    return 'candidate_snapshot'
  }
  if (!isArtifact(result.artifact_file, result.artifact_digest)) return 'artifact_file'
  return hasConsistentCost(result) ? null : 'cost_status'
}

/** What a result makes of the execution: unknown while any process may live, else stopped, finished or failed. */
export function executionAfter(task: Task, result: RunResult): ExecutionState {
  if (!result.group_clear) return 'unknown'
  if (result.stop_requested || task.status === 'cancel_requested') return 'stopped'
  return result.exit_code === 0 ? 'finished' : 'failed'
}

/** A manifest is named by its own digest. */
function isArtifact(file: string | null, digest: string | null): boolean {
  if (file === null || digest === null) return file === digest
  return sha256.test(digest) && file === `manifest-${digest.slice('sha256:'.length)}.json`
}

function hasConsistentCost(result: RunResult): boolean {
  const { cost_status, cost_microusd: total, engine_microusd: engine, jev_microusd: jev } = result
  if (engine !== undefined && jev !== undefined) return cost_status === 'priced' && total === engine + jev
  if (total !== undefined) return false
  return cost_status === (engine === undefined && jev === undefined ? 'unknown' : 'partial')
}
