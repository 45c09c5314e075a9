import { diskWatchMs, ownerPollMs, stdoutKeptBytesMax } from '../../limits.ts'
import type { Clock } from '../../seams/clock.ts'
import { isDiskLow } from '../probe/disk-space.ts'
import type { EngineEnd, EngineRun, OutputDelivery } from '../supervise/engine.ts'
import { outputStep } from '../trace/run-steps.ts'
import type { TraceWriter } from '../trace/writer.ts'
import { isCancelled } from './dispatch.ts'
import type { Ownership } from './execute.ts'

/** A command that has ended, and what of its output could not be kept. */
export interface Watched {
  readonly end: EngineEnd
  /** Output was dropped, or the run was stopped for producing too much. */
  readonly outputLost: boolean
  /** The run was ended because the disk was running out. */
  readonly diskFull: boolean
}

/**
 * Follows a running command to its end: writes its output to the trace as it comes, and stops it when the task is
 * cancelled, when 2 MiB of output were kept, or when the store's disk runs out.
 * @see spec/execution.md §4, step 17
 */
export async function watchRun(ownership: Ownership, run: EngineRun, trace: TraceWriter): Promise<Watched> {
  try {
    return await follow(ownership, run, trace)
  } catch (error) {
    // Whatever went wrong here, the command does not outlive its owner.
    run.stop()
    await run.ended
    throw error
  }
}

async function follow(ownership: Ownership, run: EngineRun, trace: TraceWriter): Promise<Watched> {
  const pace = paceOf(ownership.deps.clock, run.ended)
  const isLow = lowDiskAlarm(ownership)
  let kept = 0
  let dropped = false
  let diskFull = false
  const keep = async (output: OutputDelivery) => {
    await trace.step(outputStep(output))
    kept += output.bytes.length
    dropped ||= output.gaps.length > 0
  }
  while (!pace.isOver()) {
    // Past the cap nothing more is taken: what still comes waits, bounded, for the end.
    const output = kept < stdoutKeptBytesMax ? run.take() : null
    if (output !== null) await keep(output)
    diskFull ||= await isLow()
    if (diskFull || kept >= stdoutKeptBytesMax || (await isCancelled(ownership))) run.stop()
    await pace.next()
  }
  const end = await run.ended
  const capped = kept >= stdoutKeptBytesMax
  for (const output of end.last) await keep(output)
  return { end, outputLost: dropped || capped || end.stderr.truncated, diskFull }
}

/** Waits from look to look, and at most until the end. */
function paceOf(clock: Clock, ended: Promise<unknown>): { isOver(): boolean; next(): Promise<void> } {
  let over = false
  let wake = () => {}
  void ended.then(() => {
    over = true
    wake()
  })
  return {
    isOver: () => over,
    next: () =>
      new Promise((resolve) => {
        if (over) return resolve()
        const timer = clock.after(ownerPollMs, resolve)
        wake = () => {
          timer.cancel()
          resolve()
        }
      }),
  }
}

/** Looks at the store's disk once a second. */
function lowDiskAlarm({ deps, recorder }: Ownership): () => Promise<boolean> {
  let lookedAt = deps.clock.nowMs()
  return async () => {
    if (deps.clock.nowMs() - lookedAt < diskWatchMs) return false
    lookedAt = deps.clock.nowMs()
    const space = await deps.measureDisk(recorder.store().dir)
    return space !== null && isDiskLow(space)
  }
}
