import type { EngineEnd } from './engine.ts'
import type { ProcessExit } from './launch-owner.ts'

/** Why a run was ended from outside. */
export type StopCause = 'stop' | 'deadline' | 'memory'

/** What is known of a run once its boundary is gone. */
export interface Observed {
  /** Null when the boundary's process would not end. */
  readonly exit: ProcessExit | null
  readonly cause: StopCause | null
  /** Whether a command was executed inside and exited. */
  readonly commandRan: boolean
  readonly stderr: string
}

/**
 * How a run ended, in the page's words. A stop that was asked for tells how the command really ended; the deadline
 * tells only itself. Pure.
 * @see spec/execution.md §7
 */
export function endingOf(observed: Observed): Pick<EngineEnd, 'ending' | 'exit_code' | 'stop_requested'> {
  const { exit, cause } = observed
  const stop_requested = cause === 'stop'
  const without = (ending: string) => ({ ending, exit_code: null, stop_requested })
  if (cause === 'deadline') return without('timed out')
  if (exit === null) return without('failed: the boundary would not end')
  if (exit.code === null) return without('stopped by a signal')
  if (!observed.commandRan)
    return without(`failed: the boundary could not be set up${reason(observed.stderr)}`)
  return { ending: `exit ${exit.code}`, exit_code: exit.code, stop_requested }
}

/** The backend's own last line, without its control characters. */
function reason(stderr: string): string {
  const line = stderr.trim().split('\n').at(-1) ?? ''
  return line === '' ? '' : `: ${line.replaceAll(/[\u0000-\u001f\u007f]/g, ' ').slice(0, 200)}`
}
