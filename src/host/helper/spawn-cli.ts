import type { Readable } from 'node:stream'
import { execa } from 'execa'
import { Refusal } from '../../protocol/refusal.ts'

/** How a child of this command line ended. */
export interface CliEnd {
  /** The exit code; null when a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What a child is given: its environment beside the few names it inherits, and its standard input. */
export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

/** A child that runs until it is told to stop. */
export interface CliChild {
  /** Its first line on standard output; refuses `io` when it ended without one. */
  firstLine(): Promise<string>
  /** Asks it to stop and waits until it has. */
  stop(): Promise<CliEnd>
  /** How it ended, once it did. */
  readonly ended: Promise<CliEnd>
}

const inherited = ['PATH', 'HOME', 'TMPDIR', 'XDG_RUNTIME_DIR', 'DRAWBRIDGE_ALLOW_ROOT']
const bytesMax = 16_777_216

/**
 * Runs one command of this same command line, in a process of its own, to its end. Nothing but the few names that
 * a command may need is inherited.
 */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliEnd> {
  const done = await execa(process.execPath, [entry(), ...args], settings(options))
  return endOf(done)
}

/** Starts one command of this same command line and leaves it running. */
export function spawnCli(args: readonly string[], options: CliOptions = {}): CliChild {
  const child = execa(process.execPath, [entry(), ...args], settings(options))
  const ended = child.then(endOf)
  return {
    ended,
    firstLine: () => firstLine(child.stdout, ended, args),
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

function firstLine(stdout: Readable, ended: Promise<CliEnd>, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = ''
    stdout.on('data', (part: Buffer) => {
      seen += part.toString()
      const end = seen.indexOf('\n')
      if (end >= 0) resolve(seen.slice(0, end))
    })
    void ended.then(({ code, stderr }) => {
      reject(new Refusal('io', `drawbridge ${args[0]} ended with ${code}: ${stderr.trim()}`))
    })
  })
}

function entry(): string {
  return process.argv[1] ?? ''
}

function settings({ env = {}, input = '' }: CliOptions) {
  const kept = inherited.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    reject: false,
    extendEnv: false,
    env: { ...Object.fromEntries(kept), ...env },
    input,
    maxBuffer: bytesMax,
    // A child that outlives its parent would be left behind.
    cleanup: true,
  } as const
}

function endOf(done: { exitCode?: number | undefined; stdout?: unknown; stderr?: unknown }): CliEnd {
  return { code: done.exitCode ?? null, stdout: String(done.stdout ?? ''), stderr: String(done.stderr ?? '') }
}
