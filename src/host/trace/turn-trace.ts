import { createHash, type Hash } from 'node:crypto'
import { traceRestShare, traceSliceBytes, traceSwiftBytes } from '../../limits.ts'
import { breathe, type Clock, pause } from '../../seams/clock.ts'
import type { Disk } from '../../seams/disk.ts'
import { traceFile } from '../../store/tasks/derived.ts'
import type { Task } from '../../store/tasks/task.ts'
import { type EvidenceState, readTraceBytes, stateOf } from './evidence.ts'
import { readTraceAtRest, type TraceLog } from './reader.ts'
import { type RenderedStep, renderSteps } from './render.ts'

/** A turn's steps as they were read once. */
export interface TurnTrace {
  readonly state: EvidenceState
  /** How many steps there are. */
  readonly count: number
  /** Steps as the ATIF document has them, from one place up to another, counted from 0. */
  steps(from: number, to: number): RenderedStep[]
}

/**
 * Reads the trace of a task's current turn beside everything else that this process does: a large one is taken in by
 * small slices with rests between them, so that whoever asks for it waits and nobody else. Hash and steps come from one
 * read of the file, and no lock is taken.
 * @see spec/evidence.md §5, spec/wire.md §7
 */
export async function readTurnTrace(
  deps: { readonly disk: Disk; readonly clock: Clock },
  storeDir: string,
  task: Task,
): Promise<TurnTrace> {
  if (task.run === undefined) return nothingRead('not_started')
  const bytes = await readTraceBytes(deps.disk, `${storeDir}/${traceFile(task)}`)
  if (typeof bytes === 'string') return nothingRead(bytes)
  const rest = restBetween(deps.clock)
  const hash = createHash('sha256')
  await hashAtRest(hash, bytes, rest)
  const log = await readTraceAtRest(bytes, rest)
  if (log === null) return nothingRead('malformed')
  const result = task.run.result ?? null
  const matches = result === null ? null : result.trace_digest === `sha256:${hash.digest('hex')}`
  return traceOf(log, stateOf(log, matches))
}

function traceOf(log: TraceLog, state: EvidenceState): TurnTrace {
  return {
    state,
    count: log.steps.length,
    steps: (from, to) => renderSteps(log.session, log.steps.slice(from, to), from),
  }
}

function nothingRead(state: EvidenceState): TurnTrace {
  return { state, count: 0, steps: () => [] }
}

/** A hash takes bytes some ten times as fast as a reader of lines. */
const hashedAtOnce = 10

async function hashAtRest(
  hash: Hash,
  bytes: Uint8Array,
  rest: (bytes: number) => Promise<void> | null,
): Promise<void> {
  const slice = traceSliceBytes * hashedAtOnce
  for (let place = 0; place < bytes.length; place += slice) {
    const part = bytes.subarray(place, place + slice)
    hash.update(part)
    const pausing = rest(Math.ceil(part.length / hashedAtOnce))
    if (pausing !== null) await pausing
  }
}

/**
 * When to rest, by the bytes that were taken in: after each slice others go first, and past the size of an ordinary trace
 * they have the process for several times as long as the slice took.
 */
function restBetween(clock: Clock): (bytes: number) => Promise<void> | null {
  let slice = 0
  let total = 0
  let began = performance.now()
  const resting = async (): Promise<void> => {
    const tookMs = performance.now() - began
    if (total <= traceSwiftBytes) await breathe()
    else await pause(clock, Math.max(1, Math.round(tookMs * traceRestShare)))
    began = performance.now()
  }
  return (bytes) => {
    slice += bytes
    total += bytes
    if (slice < traceSliceBytes) return null
    slice = 0
    return resting()
  }
}
