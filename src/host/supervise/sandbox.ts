import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { gateDescriptor, statusDescriptor } from '../boundary/confined-arguments.ts'
import type { ProcessExit } from './launch-owner.ts'
import { namespaceOf, type ProcessIdentity, readIdentity } from './process-identity.ts'
import { readStatus, type StartedInside } from './sandbox-status.ts'

/** The first process inside the boundary. */
export interface InnerInit {
  readonly pid: number
  /** When it started; null when it was gone before it could be looked at, and with it everything in its namespace. */
  readonly startTicks: number | null
  readonly namespace: number
}

/** A boundary's process with everything in it. */
export interface Sandbox {
  /** The boundary's own process, leader of its own group. */
  readonly identity: ProcessIdentity
  /** Null when the boundary ended before it had one. */
  readonly inner: Promise<InnerInit | null>
  /** What the held command waits on. */
  readonly gate: Writable
  /** Resolves once the boundary's own process is reaped. */
  readonly exited: Promise<ProcessExit>
  /** Whether a command was started inside at all; resolves after the end. */
  readonly commandRan: Promise<boolean>
  /** Lets go of what was kept open for it. */
  release(): void
}

/**
 * Starts the boundary's program in a group of its own: standard input null, environment empty, only the three output
 * descriptors given. From the main thread: the boundary dies with the thread that started it.
 * @returns null and why, when the system could not start it
 */
export async function startSandbox(
  program: string,
  args: readonly string[],
  outputs: { stdout: number; stderr: number },
): Promise<Sandbox | { readonly failed: string }> {
  const stdio: Array<'ignore' | 'pipe' | number> = ['ignore', outputs.stdout, outputs.stderr]
  stdio[statusDescriptor] = 'pipe'
  stdio[gateDescriptor] = 'pipe'
  let child: ChildProcess
  try {
    child = spawn(program, args, { cwd: '/', detached: true, env: {}, stdio })
  } catch (error) {
    return { failed: codeOf(error) }
  }
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const failure = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(codeOf(error)))
  })
  // Not reaped before the event loop turns, so it can be read even if it has ended.
  const identity = child.pid === undefined ? null : readIdentity(child.pid)
  if (identity === null) return { failed: await failure }
  const status = readStatus(child.stdio[statusDescriptor] as Readable)
  const kept: number[] = []
  return {
    identity: { ...identity, pid_namespace: null },
    inner: status.started.then((started) => (started === null ? null : innerInit(started, kept))),
    gate: child.stdio[gateDescriptor] as Writable,
    exited,
    commandRan: status.commandRan,
    release: () => {
      for (const descriptor of kept.splice(0)) closeSync(descriptor)
    },
  }
}

/**
 * Looks at the inner init, and keeps its namespace open: the kernel gives the number of one that ended away again.
 * A process that is not in the namespace that was told is another one, which got the number since.
 */
function innerInit(started: StartedInside, kept: number[]): InnerInit | null {
  const { pid } = started
  const now = namespaceOf(pid)
  const namespace = started.namespace ?? now
  if (namespace === null) return null
  const identity = now === namespace ? readIdentity(pid) : null
  try {
    kept.push(openSync(`/proc/${pid}/ns/pid`, 'r'))
  } catch {
    // Then the number can be given away again, and at worst a later run of another is taken for this one's rest.
  }
  return { pid, startTicks: identity?.start_ticks ?? null, namespace }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
