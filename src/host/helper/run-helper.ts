import { helperBytesMax, helperMs } from '../../limits.ts'

/** How a helper is to run. */
export interface HelperOptions {
  readonly cwd?: string
  /** The whole environment; nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** Per stream; more ends the helper. */
  readonly bytesMax?: number
}

/** How a helper ended. */
export interface HelperEnd {
  /** Null when it did not exit by itself, printed too much, or was never started. */
  readonly exitCode: number | null
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly timedOut: boolean
  readonly truncated: boolean
  /** Why it was not started: the system's code, such as `ENOENT`. */
  readonly notStarted: string | null
}

/**
 * Runs a short-lived helper (git, a probe) and waits for its end: standard input null, environment cleared, at most
 * 10 s and 64 KiB a stream unless told otherwise. Every ending is a value. Not for the commands of a turn.
 * @param program absolute path; nothing is searched
 * @see spec/execution.md §4, §7
 */
export async function runHelper(
  program: string,
  args: readonly string[],
  options: HelperOptions = {},
): Promise<HelperEnd> {
  // Loaded when it is needed: most commands start no helper.
  const { execa } = await import('execa')
  const timeoutMs = options.timeoutMs ?? helperMs
  const result = await execa(program, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...options.env },
    extendEnv: false,
    stdin: 'ignore',
    encoding: 'buffer',
    stripFinalNewline: false,
    maxBuffer: options.bytesMax ?? helperBytesMax,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    reject: false,
  })
  return {
    exitCode: result.isTerminated || result.timedOut || result.isMaxBuffer ? null : (result.exitCode ?? null),
    stdout: result.stdout,
    stderr: result.stderr,
    timedOut: result.timedOut,
    truncated: result.isMaxBuffer,
    notStarted: result.exitCode === undefined && !result.isTerminated ? (result.code ?? 'unknown') : null,
  }
}

/** The first line of what a helper wrote to a stream, at most 200 characters, for a message to a person. */
export function firstLine(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8').trim()
  return (text.split('\n')[0] ?? '').replaceAll(/[\u0000-\u001f\u007f]/g, ' ').slice(0, 200)
}
