import { fileSizeBytesMax, helperMs, memoryWatchMs, processesMax } from '../../limits.ts'
import { isRefusal } from '../../protocol/refusal.ts'
import type { Clock, Timer } from '../../seams/clock.ts'
import { confinedArguments, tmpfsBytes } from '../boundary/confined-arguments.ts'
import { closeInheritedDescriptors } from '../probe/descriptors.ts'
import { createEndSequence } from './end-sequence.ts'
import { endingOf, type StopCause } from './ending.ts'
import type { EnforcedLimits, Engine, EngineEnd, EngineRun, EngineStart } from './engine.ts'
import { waitGroupClear } from './group-clear.ts'
import { watchMemory } from './memory-watch.ts'
import { openRunStreams, type RunStreams } from './run-streams.ts'
import { type InnerInit, type Sandbox, startSandbox } from './sandbox.ts'
import { startGate } from './start-gate.ts'
import { within } from './within.ts'

/** All that a command sees of an environment. */
const commandEnvironment = { PATH: '/usr/bin:/bin:/run/current-system/sw/bin' }

/**
 * The engine that runs one program with fixed arguments to its end, inside the boundary.
 * @see spec/execution.md §4, §7
 */
export function boundedCommand(clock: Clock): Engine {
  return { start: (spec) => startCommand(clock, spec) }
}

/** A command that was started, and since when. */
interface Started {
  readonly spec: EngineStart
  readonly streams: RunStreams
  readonly sandbox: Sandbox
  /** Null when the boundary ended, or hung, before a process was inside. */
  readonly inner: InnerInit | null
  /** Milliseconds of the clock. */
  readonly at: number
}

async function startCommand(clock: Clock, spec: EngineStart): Promise<EngineRun> {
  const at = clock.nowMs()
  try {
    const args = confinedArguments(spec.boundary, { ...spec, env: commandEnvironment })
    closeInheritedDescriptors()
    const streams = openRunStreams(spec.streamBytes)
    const sandbox = await startSandbox(spec.boundary.program, args, streams.childEnds)
    streams.handOver()
    if ('failed' in sandbox) {
      await streams.finish(clock)
      return notStarted(spec, `the boundary could not be started (${sandbox.failed})`)
    }
    const inner = await within(clock, helperMs, sandbox.inner, null)
    return supervise(clock, { spec, streams, sandbox, inner, at })
  } catch (error) {
    if (!isRefusal(error)) throw error
    return notStarted(spec, error.message)
  }
}

function supervise(clock: Clock, started: Started): EngineRun {
  const { spec, streams, sandbox, inner } = started
  const sequence = createEndSequence(clock, sandbox, inner)
  const gate = startGate(sandbox.gate, inner?.pid ?? null)
  let cause: StopCause | null = null
  let over = false
  // Whatever comes first is why it ended; what follows only finds it ending.
  const end = (why: StopCause, how: () => void): void => {
    if (over) return
    cause ??= why
    how()
  }
  let deadline: Timer | null = null
  const memory =
    inner === null
      ? null
      : watchMemory(clock, inner.pid, spec.memoryBytes, () => end('memory', sequence.kill))
  // Either it has ended by now, which this does not disturb, or it hangs.
  if (inner === null) sequence.begin()

  const ended = async (): Promise<EngineEnd> => {
    const exit = await Promise.race([sandbox.exited, sequence.gaveUp.then(() => null)])
    over = true
    const elapsed = Math.max(0, clock.nowMs() - started.at)
    deadline?.cancel()
    memory?.stop()
    sequence.sweep()
    await streams.finish(clock)
    const groupClear = await waitGroupClear(clock, sandbox, inner)
    sandbox.release()
    const stderr = streams.errors.finish()
    // Only the boundary's own process held the other end, so there is nothing to wait for but our own turn to read.
    const commandRan = await within(clock, helperMs, sandbox.commandRan, false)
    const last = streams.output.take()
    return {
      ...endingOf({ exit, cause, commandRan, stderr: stderr.text }),
      group_clear: groupClear,
      elapsed_ms: elapsed,
      stderr,
      last: last === null ? [] : [last],
      memory_exceeded: cause === 'memory',
      enforced: enforcedLimits(spec),
    }
  }
  return {
    process: { ...sandbox.identity, pid_namespace: inner?.namespace ?? null },
    async begin() {
      deadline ??= clock.after(spec.wallSeconds * 1000, () => end('deadline', sequence.begin))
      await gate.open(clock, () => over || cause !== null)
    },
    take: streams.output.take,
    stop: () => end('stop', sequence.begin),
    ended: ended(),
    onOutput: streams.onOutput,
  }
}

/** A run whose command never began. */
function notStarted(spec: EngineStart, why: string): EngineRun {
  return {
    process: null,
    begin: async () => {},
    take: () => null,
    stop: () => {},
    onOutput: () => {},
    ended: Promise.resolve({
      ending: `failed: ${why}`,
      exit_code: null,
      stop_requested: false,
      group_clear: true,
      elapsed_ms: 0,
      stderr: { text: '', bytes: 0, truncated: false },
      last: [],
      memory_exceeded: false,
      enforced: enforcedLimits(spec),
    }),
  }
}

function enforcedLimits({ memoryBytes }: EngineStart): EnforcedLimits {
  return {
    data_bytes: memoryBytes,
    tmpfs_bytes: tmpfsBytes(memoryBytes),
    processes: processesMax,
    file_bytes: fileSizeBytesMax,
    memory_watch_ms: memoryWatchMs,
    scope: null,
  }
}
