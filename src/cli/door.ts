import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { Refusal } from '../protocol/refusal.ts'
import { type Clock, systemClock } from '../seams/clock.ts'
import { type Answer, exitCodeOf, refusalText } from './output.ts'
import { jsonLine } from './printable.ts'

const progressAfterMs = 300
let signalsTaken = false
let outputLost: Error | null = null

/** How one command reaches the world: where its state lives and whom it talks to. */
export interface Door {
  /** The home directory, absolute. */
  readonly home: string
  /** Whether standard output is for a program. */
  readonly json: boolean
  readonly clock: Clock
  /** Writes to standard output. Refuses `output` once its reader is gone, so that whoever goes on printing ends. */
  out(text: string): void
  err(text: string): void
  /** Refuses `root_refused` when run as root without leave: a turn run by root is still root for files. */
  refuseRoot(): void
  /** Whether root was allowed, to be passed on to processes of ours. */
  readonly allowRoot: boolean
  /** Resolves at the first SIGINT or SIGTERM, which from this call on no longer end the process by themselves. */
  stopped(): Promise<NodeJS.Signals>
}

/** Runs a command's action and prints its answer; null when it printed for itself. */
export async function answer(
  command: CommandUnknownOpts,
  act: (door: Door) => Promise<Answer | null>,
): Promise<void> {
  const door = openDoor(command.optsWithGlobals())
  const said = await withProgress(door, command.name(), () => act(door))
  if (said === null) return
  door.out(door.json ? jsonLine(said.json) : said.text)
  if (said.exit !== undefined) process.exitCode = said.exit
  if (said.refusal === undefined) return
  door.err(refusalText(said.refusal, door.json))
  process.exitCode = exitCodeOf(said.refusal)
}

/** The options that every command takes. */
export interface CommonOptions {
  home?: string
  json?: boolean
  allowRoot?: boolean
}

function openDoor(options: CommonOptions): Door {
  const allowRoot = options.allowRoot === true || process.env['DRAWBRIDGE_ALLOW_ROOT'] === '1'
  return {
    home: homeOf(options.home),
    json: options.json === true,
    clock: systemClock,
    out(text) {
      if (outputLost !== null) throw outputRefusal(outputLost)
      process.stdout.write(text)
    },
    err: (text) => void process.stderr.write(text),
    allowRoot,
    refuseRoot() {
      if (process.getuid?.() !== 0 || allowRoot) return
      throw new Refusal('root_refused', 'this starts turns, and a turn run by root is root for every file', {
        hint: 'Use an ordinary user, or say --allow-root if this is a throw-away machine.',
      })
    },
    stopped: takeSignals,
  }
}

/** Shows on a terminal, after 300 ms, that something is still being waited for; leaves no trace of it. */
export async function withProgress<T>(door: Door, what: string, wait: () => Promise<T>): Promise<T> {
  if (door.json || process.stderr.isTTY !== true) return wait()
  let shown = false
  const timer = door.clock.after(progressAfterMs, () => {
    shown = true
    door.err(`${what} …`)
  })
  try {
    return await wait()
  } finally {
    timer.cancel()
    if (shown) door.err('\r\u001b[K')
  }
}

/** Resolves at the first SIGINT or SIGTERM. Before anyone asked, SIGINT ends the process with 130. */
function takeSignals(): Promise<NodeJS.Signals> {
  signalsTaken = true
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal))
  })
}

/** Makes Ctrl-C an exit with 130 unless a command takes the signal for itself. */
export function endOnInterrupt(): void {
  process.on('SIGINT', () => {
    if (!signalsTaken) process.exit(130)
  })
}

/** Remembers a standard output that nobody takes any more; without this Node ends the process at once. */
export function watchOutput(): void {
  process.stdout.on('error', (error) => {
    outputLost = error
  })
}

/** Why standard output is gone, or null while it is not. */
export function outputFailure(): Error | null {
  return outputLost
}

/** The refusal for output that was not taken. The command may have had its effect: it can be given again. */
export function outputRefusal(cause: Error): Refusal {
  return new Refusal('output', `the output was not taken: ${cause.message}`, { cause })
}

function homeOf(given: string | undefined): string {
  const named = given ?? process.env['DRAWBRIDGE_HOME']
  return resolve(named === undefined || named === '' ? `${homedir()}/.drawbridge` : named)
}
