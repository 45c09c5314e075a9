import { Refusal } from '../../protocol/refusal.ts'
import type { Clock } from '../../seams/clock.ts'
import type { Disk } from '../../seams/disk.ts'
import { type TraceSession, type TraceStep, traceVersion } from './records.ts'

/** A trace that is being written. Every call resolves when its line is durable. */
export interface TraceWriter {
  readonly path: string
  /** Appends one step, stamped with the host's time. Refuses `io` after `end`, writing nothing. */
  step(step: Omit<TraceStep, 'at'>): Promise<void>
  /** Appends the end record; a second call does nothing. */
  end(): Promise<void>
  /** Closes the file without ending the trace. */
  close(): Promise<void>
}

/**
 * Creates a turn's trace and writes its session record.
 * Refuses `io` when something is already at `path`: a trace is never overwritten and never continues another's.
 * @see spec/evidence.md §1
 */
export async function createTrace(
  disk: Disk,
  clock: Clock,
  path: string,
  session: TraceSession,
): Promise<TraceWriter> {
  const file = await disk.openAppend(path, { exclusive: true })
  let ended = false
  const write = (record: object): Promise<void> => file.append(encoder.encode(`${JSON.stringify(record)}\n`))
  await write({ record: 'session', schema_version: traceVersion, at: clock.nowMs(), session })
  return {
    path,
    async step(step) {
      if (ended) throw new Refusal('io', 'the trace has ended')
      await write({ record: 'step', step: { at: clock.nowMs(), ...step } })
    },
    async end() {
      if (ended) return
      ended = true
      await write({ record: 'end', at: clock.nowMs(), state: 'ended' })
    },
    close: () => file.close(),
  }
}

const encoder = new TextEncoder()
