import { viewStepsMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Disk } from '../../seams/disk.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { Manifest } from '../artifacts/manifest.ts'
import { artifactFaults, readManifest } from '../artifacts/read.ts'
import { type Evidence, readEvidence } from './evidence.ts'
import { type ViewCursor, viewSchemaName } from './view-cursor.ts'

/** A task with the evidence of its current turn. Every key is always there, in this order. @see spec/evidence.md §5 */
export interface TaskView {
  readonly schema: typeof viewSchemaName
  readonly task: Task
  readonly evidence: Evidence
  readonly artifacts: Manifest | null
  readonly artifact_error: string | null
  /** `PATH: reason` for each retained file whose bytes cannot be given now. */
  readonly artifact_faults: readonly string[]
  readonly verification: Task['checks']
  readonly integration: 'not_attempted'
  readonly cost_usd: number | null
  readonly cost_status: 'unknown' | 'partial' | 'priced'
}

/** The store's directory and how a task of it is read. */
export interface ViewSource {
  readonly dir: string
  show(taskId: string): Promise<Task>
}

/**
 * Reads a task's view: no execution, no lock.
 * Refuses `invalid_command` for a limit outside 1–200, `not_found` for an unknown task and `command_conflict` for a
 * cursor that does not belong to this turn.
 * @param page.limit how many steps at most
 * @see spec/evidence.md §5
 */
export async function readView(
  disk: Disk,
  store: ViewSource,
  taskId: string,
  page: { limit: number; cursor?: ViewCursor | null },
): Promise<TaskView> {
  const { limit } = page
  if (!Number.isInteger(limit) || limit < 1 || limit > viewStepsMax) {
    throw new Refusal('invalid_command', `the limit must be a whole number from 1 to ${viewStepsMax}`)
  }
  const task = await store.show(taskId)
  const result = task.run?.result ?? null
  const microusd = result?.cost_microusd ?? null
  return {
    schema: viewSchemaName,
    task,
    evidence: await readEvidence(disk, store.dir, task, { limit, cursor: page.cursor ?? null }),
    ...(await readArtifacts(disk, store.dir, task)),
    verification: task.checks,
    integration: 'not_attempted',
    cost_usd: microusd === null ? null : microusd / 1_000_000,
    cost_status: result?.cost_status ?? 'unknown',
  }
}

/** A manifest that cannot be read is said in the view and does not fail it. */
async function readArtifacts(
  disk: Disk,
  storeDir: string,
  task: Task,
): Promise<Pick<TaskView, 'artifacts' | 'artifact_error' | 'artifact_faults'>> {
  try {
    const artifacts = await readManifest(disk, storeDir, task)
    const faults = artifacts === null ? [] : await artifactFaults(disk, storeDir, artifacts)
    return { artifacts, artifact_error: null, artifact_faults: faults }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { artifacts: null, artifact_error: error.message, artifact_faults: [] }
  }
}
