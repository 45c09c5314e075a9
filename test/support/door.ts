import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { execa } from 'execa'

/** The built command line, as a person starts it. */
export const program = new URL('../../dist/cli/main.js', import.meta.url).pathname

export interface Ended {
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** A place where one test plays: a home, a device and a workspace under one temporary folder. */
export interface Place {
  readonly base: string
  readonly home: string
  readonly device: string
  readonly workspace: string
  /** Runs one command of the command line, in a process of its own, to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>
  /** The same with `--json`, expected to succeed; what it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
  ask(args: readonly string[], options?: RunOptions): Promise<any>
  /** The same on the device. */
  // biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
  onDevice(args: readonly string[], options?: RunOptions): Promise<any>
  /** Starts a command that goes on. */
  start(args: readonly string[]): Going
  /** Asks until it holds. Fails with `what` after 20 s. */
  // biome-ignore lint/suspicious/noExplicitAny: output of the product, looked at by name
  until(what: string, args: readonly string[], holds: (printed: any) => boolean): Promise<any>
  /** Stops what was started and removes everything. */
  leave(): Promise<void>
}

interface RunOptions {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface Going {
  readonly firstLine: Promise<string>
  /** The first line on standard error. */
  readonly firstWarning: Promise<string>
  readonly ended: Promise<Ended>
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

const inherited = ['PATH', 'HOME', 'TMPDIR']

/** Makes a place: its workspace is a linked worktree of a small repository. */
export async function makePlace(): Promise<Place> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'drawbridge-test-')))
  const home = join(base, 'home')
  const device = join(base, 'device')
  const workspace = join(base, 'workspace')
  await makeWorktree(join(base, 'repository'), workspace)
  const going: Going[] = []

  const start = (args: readonly string[], options: RunOptions = {}) =>
    execa(process.execPath, [program, ...args], {
      reject: false,
      stripFinalNewline: false,
      extendEnv: false,
      env: { ...environment(), DRAWBRIDGE_HOME: home, ...options.env },
      input: options.input ?? '',
      cwd: base,
    })
  const run = async (args: readonly string[], options?: RunOptions) => endOf(await start(args, options))
  const ask = async (args: readonly string[], options?: RunOptions) => {
    const ended = await run([...args, '--json'], options)
    if (ended.code !== 0)
      throw new Error(`drawbridge ${args.join(' ')} exited ${ended.code}: ${ended.stderr}`)
    return JSON.parse(ended.stdout)
  }
  return {
    base,
    home,
    device,
    workspace,
    run,
    ask,
    onDevice: (args, options) => ask([...args, '--state', device, '--loopback-test'], options),
    start(args) {
      const child = goingOn(start(args), args)
      going.unshift(child)
      return child
    },
    async until(what, args, holds) {
      const deadline = performance.now() + 20_000
      for (;;) {
        const printed = await ask(args)
        if (holds(printed)) return printed
        if (performance.now() > deadline)
          throw new Error(`waited 20 s for ${what}: ${JSON.stringify(printed)}`)
      }
    },
    async leave() {
      for (const child of going) await child.stop()
      await rm(base, { recursive: true, force: true })
    },
  }
}

/** Starts the program on a home that somebody else made. */
export function startProgram(home: string, args: readonly string[]): Going {
  return goingOn(execa(process.execPath, [program, ...args], programOptions(home)), args)
}

/** How the program is run on a home. */
export function programOptions(home: string) {
  const env = { ...environment(), DRAWBRIDGE_HOME: home }
  return { reject: false, stripFinalNewline: false, extendEnv: false, env } as const
}

/** A small repository with one commit, and a linked worktree of it. */
async function makeWorktree(repository: string, workspace: string): Promise<void> {
  await mkdir(repository)
  const git = (...args: string[]) =>
    execa('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', ...args], {
      cwd: repository,
    })
  await git('init', '--quiet', '--initial-branch=main')
  await writeFile(join(repository, 'README.md'), 'A repository of a test.\n')
  await git('add', 'README.md')
  await git('commit', '--quiet', '--message', 'Begin')
  await git('worktree', 'add', '--quiet', '-b', 'work', workspace)
}

/** The part of a child process that is of use here. */
interface Child extends PromiseLike<{ exitCode?: number | undefined; stdout?: unknown; stderr?: unknown }> {
  readonly stdout: Readable
  readonly stderr: Readable
  kill(signal: NodeJS.Signals): boolean
}

/** A process that was started just now. */
export function goingOn(child: Child, args: readonly string[]): Going {
  const ended = Promise.resolve(child.then(endOf))
  const firstOf = (stream: Readable) => {
    let seen = ''
    const line = new Promise<string>((resolve, reject) => {
      stream.on('data', (part: Buffer) => {
        seen += part.toString()
        if (seen.includes('\n')) resolve(seen.slice(0, seen.indexOf('\n')))
      })
      ended.then(({ code, stderr }) => reject(new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)))
    })
    line.catch(() => undefined)
    return line
  }
  return {
    firstLine: firstOf(child.stdout),
    firstWarning: firstOf(child.stderr),
    ended,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

function environment(): Record<string, string> {
  const kept = inherited.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  // A machine where tests run as root is one to throw away.
  const leave = process.getuid?.() === 0 ? { DRAWBRIDGE_ALLOW_ROOT: '1' } : {}
  return { ...Object.fromEntries(kept), ...leave }
}

function endOf(done: { exitCode?: number | undefined; stdout?: unknown; stderr?: unknown }): Ended {
  return { code: done.exitCode, stdout: String(done.stdout ?? ''), stderr: String(done.stderr ?? '') }
}
