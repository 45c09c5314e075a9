import type { Boundary } from '../boundary/prepare.ts'
import type { ProcessIdentity } from './process-identity.ts'

/** What an engine is to run, and within which bounds. */
export interface EngineStart {
  readonly boundary: Boundary
  /** Canonical absolute path. */
  readonly program: string
  readonly arguments: readonly string[]
  /** Canonical absolute path; the command's working directory. */
  readonly workspace: string
  /** A host folder shown read-only at `/run/drawbridge/turn`, or null. */
  readonly turnFolder: string | null
  readonly wallSeconds: number
  /** How much untaken standard output, and how much standard error, is kept. */
  readonly streamBytes: number
  readonly memoryBytes: number
}

/** A span of standard output that was produced and dropped. */
interface OutputGap {
  readonly offset: number
  readonly bytes: number
}

/** Standard output since the delivery before: bytes at `offset`, then the spans dropped after them. */
export interface OutputDelivery {
  readonly offset: number
  readonly bytes: Uint8Array
  readonly gaps: readonly OutputGap[]
}

/** Standard error, kept up to its cap. */
export interface CapturedText {
  /** UTF-8 with replacement characters; a character cut by the cap is dropped. */
  readonly text: string
  /** Everything produced, kept or not. */
  readonly bytes: number
  readonly truncated: boolean
}

/** The bounds that held while the run lived. */
export interface EnforcedLimits {
  readonly data_bytes: number
  readonly tmpfs_bytes: number
  readonly processes: number
  readonly file_bytes: number
  readonly memory_watch_ms: number
  /** The transient scope that bounded the whole tree, or null when there was none. */
  readonly scope: string | null
}

/** How a run ended. @see spec/execution.md §7 */
export interface EngineEnd {
  /** `exit N`, `stopped by a signal`, `timed out` or `failed: WHY`. */
  readonly ending: string
  /** Only with `exit N`. */
  readonly exit_code: number | null
  readonly stop_requested: boolean
  /** No process of the run is alive, in any session or group. */
  readonly group_clear: boolean
  readonly elapsed_ms: number
  readonly stderr: CapturedText
  /** Output that nobody took while the run lived: none or one delivery. */
  readonly last: readonly OutputDelivery[]
  readonly memory_exceeded: boolean
  readonly enforced: EnforcedLimits
}

/** One run of an engine. */
export interface EngineRun {
  /** Null when nothing could be started; `ended` then says why. */
  readonly process: ProcessIdentity | null
  /**
   * Lets the command begin: until then it is held inside its boundary, and if its owner dies it never begins. Resolves
   * once it is let go. Does nothing after a stop.
   */
  begin(): Promise<void>
  /** The output since the last call; null when there is none. Null once `ended` has resolved. */
  take(): OutputDelivery | null
  /** Asks the run to end: terminate, then kill. Calling it again changes nothing. */
  stop(): void
  /** Never rejects. */
  readonly ended: Promise<EngineEnd>
  /** Called, possibly often, when new output waits. One listener. */
  onOutput(listener: () => void): void
}

/**
 * What runs a turn inside the owner. `start` resolves once the run's processes are identified and the command is held
 * ready to begin, and never throws
 * for a command that cannot be started: that is an ending.
 */
export interface Engine {
  start(spec: EngineStart): Promise<EngineRun>
}
