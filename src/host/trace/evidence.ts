import { traceBytesMax } from '../../limits.ts'
import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import type { Disk } from '../../seams/disk.ts'
import { sha256Digest } from '../../store/digest.ts'
import { traceFile } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import type { TraceFaultKind } from './line.ts'
import { readTrace, type TraceLog } from './reader.ts'
import { type RenderedStep, renderSteps } from './render.ts'
import { cursorAt, placeOf, type ViewCursor } from './view-cursor.ts'

/** What a turn's trace is worth as evidence; the first that applies. @see spec/evidence.md §5 */
export type EvidenceState =
  | 'not_started'
  | 'missing'
  | 'unavailable_or_unsafe'
  | 'unreadable'
  | 'oversized'
  | 'malformed'
  | 'digest_mismatch'
  | 'damaged'
  | 'incomplete'
  | 'sealed'
  | 'unsealed'

/** One page of a turn's steps and what stands behind it. Every key is always there. */
export interface Evidence {
  readonly state: EvidenceState
  readonly trace_file: string | null
  readonly digest: string | null
  /** Null as long as there is no result. */
  readonly matches_result: boolean | null
  readonly faults: readonly { readonly line: number; readonly kind: TraceFaultKind }[]
  readonly total_steps: number
  /** Where to read on; null when the trace was not read. */
  readonly next: ViewCursor | null
  readonly more_available: boolean
  readonly steps: readonly RenderedStep[]
}

/** Which steps to give. */
export interface Page {
  readonly limit: number
  readonly cursor: ViewCursor | null
}

/**
 * Reads the current turn's trace. Hash and steps come from one read of the file, and no lock is taken.
 * Refuses `command_conflict` for a cursor that does not belong here, or any cursor before there is a run.
 */
export async function readEvidence(disk: Disk, storeDir: string, task: Task, page: Page): Promise<Evidence> {
  if (task.run === undefined) {
    if (page.cursor !== null) throw new Refusal('command_conflict', 'this turn has no steps yet')
    return nothingRead('not_started', null)
  }
  const name = traceFile(task)
  const bytes = await readTraceBytes(disk, `${storeDir}/${name}`)
  if (typeof bytes === 'string') return nothingRead(bytes, name)
  const log = readTrace(bytes)
  if (log === null) return nothingRead('malformed', name)
  return pageOf(task, log, sha256Digest(bytes), page)
}

function pageOf(task: Task, log: TraceLog, digest: string, { limit, cursor }: Page): Evidence {
  const result = task.run?.result ?? null
  const steps = renderSteps(log.session, log.steps)
  const name = traceFile(task)
  const source = { taskId: task.task_id, intentDigest: task.intent_digest, traceFile: name, steps }
  const from = placeOf(source, cursor)
  const to = Math.min(steps.length, from + limit)
  const matches = result === null ? null : result.trace_digest === digest
  return {
    state: stateOf(log, matches),
    trace_file: name,
    digest,
    matches_result: matches,
    faults: log.faults,
    total_steps: steps.length,
    next: cursorAt(source, to),
    more_available: to < steps.length,
    steps: steps.slice(from, to),
  }
}

/** What a trace that was read is worth. @param matches whether its digest is the result's; null without a result */
export function stateOf(log: TraceLog, matches: boolean | null): EvidenceState {
  if (matches === false) return 'digest_mismatch'
  if (log.faults.length > 0) return 'damaged'
  if (log.state !== 'ended') return 'incomplete'
  return matches === null ? 'unsealed' : 'sealed'
}

function nothingRead(state: EvidenceState, name: string | null): Evidence {
  return {
    state,
    trace_file: name,
    digest: null,
    matches_result: null,
    faults: [],
    total_steps: 0,
    next: null,
    more_available: false,
    steps: [],
  }
}

/** A trace's bytes, or why there are none. */
export async function readTraceBytes(disk: Disk, path: string): Promise<Uint8Array | EvidenceState> {
  try {
    return (await disk.read(path, traceBytesMax)) ?? 'missing'
  } catch (error) {
    if (isRefusal(error, 'limit_exceeded')) return 'oversized'
    if (isRefusal(error, 'io') && isReadFailure(error.cause)) return 'unreadable'
    if (isRefusal(error, 'unsafe_path') || isRefusal(error, 'io')) return 'unavailable_or_unsafe'
    throw error
  }
}

/** Whether the file could be opened and then not be read. */
function isReadFailure(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause && cause.syscall === 'read'
}
