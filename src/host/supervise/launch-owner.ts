import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { Refusal } from '../../protocol/refusal.ts'

/** What an owner process is started with. Absolute paths. */
export interface OwnerLaunch {
  readonly storeDir: string
  /** The saved grant. */
  readonly grantPath: string
  /** An existing private file that takes the owner's standard output and error. */
  readonly diagnosticPath: string
}

/** How a process ended, as far as its parent learnt it. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
}

/** A turn's owner, running on its own. */
export interface LaunchedOwner {
  readonly pid: number
  /** Resolves at the owner's end while this process lives; it does not keep this process alive, and never rejects. */
  readonly exited: Promise<ProcessExit>
}

/** Starts the detached process that owns one turn, and tells its end. */
export interface Launcher {
  /** Refuses `start_owner` when the process cannot be started. */
  launch(launch: OwnerLaunch): Promise<LaunchedOwner>
}

/** What every owner of this home is told. */
export interface LauncherSettings {
  readonly home: string
  readonly allowRoot: boolean
  /** The program's entry, by default the one that runs now. */
  readonly entry?: string
}

/**
 * The machine's own launcher: a new session, a cleared environment, no standard input, nothing of this process
 * inherited but the diagnostic file. The owner goes on when this process ends.
 * @see spec/execution.md §4, §12
 */
export function createLauncher(settings: LauncherSettings): Launcher {
  return { launch: (launch) => launchOwner(settings, launch) }
}

async function launchOwner(settings: LauncherSettings, launch: OwnerLaunch): Promise<LaunchedOwner> {
  const diagnostic = openDiagnostic(launch.diagnosticPath)
  try {
    const child = spawn(process.execPath, ownerArguments(settings, launch), {
      cwd: '/',
      detached: true,
      env: ownerEnvironment(),
      stdio: ['ignore', diagnostic, diagnostic],
    })
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
    })
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', () => resolve(child.pid ?? 0))
    })
    child.unref()
    return { pid, exited }
  } catch (cause) {
    throw new Refusal('start_owner', 'the owner process could not be started', { cause })
  } finally {
    closeSync(diagnostic)
  }
}

function ownerArguments(settings: LauncherSettings, launch: OwnerLaunch): string[] {
  const entry = settings.entry ?? process.argv[1]
  if (entry === undefined) throw new Error('there is no entry to start an owner from')
  const files = ['--store', launch.storeDir, '--grant', launch.grantPath]
  const common = ['--home', settings.home, ...(settings.allowRoot ? ['--allow-root'] : [])]
  return [entry, ...common, 'task', 'execute', ...files]
}

/** XDG_RUNTIME_DIR is how the user's own service manager is found. */
function ownerEnvironment(): Record<string, string> {
  const runtime = process.env['XDG_RUNTIME_DIR']
  return { PATH: '/usr/bin:/bin', ...(runtime === undefined ? {} : { XDG_RUNTIME_DIR: runtime }) }
}

function openDiagnostic(path: string): number {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW)
  } catch (cause) {
    throw new Refusal('start_owner', 'the diagnostic file cannot be opened', { cause })
  }
}
