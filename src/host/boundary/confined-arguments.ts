import { fileSizeBytesMax, processesMax, tmpfsBytesMax } from '../../limits.ts'
import { shallowFirst } from './held-directories.ts'
import { isWithin } from './paths.ts'
import type { HiddenPath, ResolvedPolicy } from './policy.ts'
import type { Boundary } from './prepare.ts'
import { boundaryRefusal } from './refusal.ts'

/** Where a command finds its turn's folder. */
const turnFolderInside = '/run/drawbridge/turn'
/** The descriptor on which the backend tells what it started. */
export const statusDescriptor = 3
/** The descriptor on which the command, before it begins, is told to begin. */
export const gateDescriptor = 4

/** Waits for the word to begin, closes the descriptor, and becomes what follows; without the word it becomes nothing. */
const gate = `read -r go <&${gateDescriptor} && exec "$0" "$@" ${gateDescriptor}<&-`

/** A command to confine. Paths are canonical. */
export interface ConfinedCommand {
  readonly program: string
  readonly arguments: readonly string[]
  readonly workspace: string
  readonly turnFolder: string | null
  readonly memoryBytes: number
  readonly env: Readonly<Record<string, string>>
}

/** Bytes that each of the two temporary file systems inside may hold. */
export function tmpfsBytes(memoryBytes: number): number {
  return Math.min(Math.floor(memoryBytes / 8), tmpfsBytesMax)
}

/**
 * The backend's whole argument list for a confined command, ending in the command itself. Pure.
 * Refuses `io` for a program that is not an absolute path.
 * @see spec/execution.md §5
 */
export function confinedArguments(boundary: Boundary, command: ConfinedCommand): string[] {
  if (!command.program.startsWith('/'))
    throw boundaryRefusal('relative', 'the program is not an absolute path')
  const { policy } = boundary
  return [
    ...isolation(),
    ...temporaries(command.memoryBytes),
    ...boundary.system,
    ...policy.readable.flatMap((path) => ['--ro-bind', path, path]),
    ...shallowFirst([...writablePaths(policy), ...policy.held]).flatMap((path) => ['--bind', path, path]),
    ...(command.turnFolder === null ? [] : ['--ro-bind', command.turnFolder, turnFolderInside]),
    ...policy.hidden.filter(({ path }) => isVisible(boundary, path)).flatMap(cover),
    ...policy.git.flatMap((path) => ['--ro-bind', path, path]),
    // Run by root, a command could otherwise set the machine's own kernel settings without any capability.
    ...['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'],
    ...(policy.offline ? ['--unshare-net'] : []),
    ...['--json-status-fd', String(statusDescriptor), '--clearenv'],
    ...Object.entries(command.env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', command.workspace, '--'],
    ...held(command),
    ...limited(boundary.prlimit, command),
  ]
}

function isolation(): string[] {
  const user = ['--uid', String(process.getuid?.() ?? 0), '--gid', String(process.getgid?.() ?? 0)]
  const privileges = ['--cap-drop', 'ALL', '--disable-userns']
  const namespaces = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try']
  return ['--die-with-parent', '--new-session', '--unshare-user', ...user, ...privileges, ...namespaces]
}

function temporaries(memoryBytes: number): string[] {
  const size = String(tmpfsBytes(memoryBytes))
  return [
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--size',
    size,
    '--tmpfs',
    '/tmp',
    '--size',
    size,
    '--tmpfs',
    '/dev/shm',
  ]
}

function writablePaths(policy: ResolvedPolicy): string[] {
  return policy.checkout === null ? [...policy.writable] : [policy.checkout, ...policy.writable]
}

/** Whether something shown to the command would show this path. */
function isVisible(boundary: Boundary, path: string): boolean {
  const shown = [...boundary.policy.readable, ...writablePaths(boundary.policy)]
  return [...shown, ...boundary.system].some((parent) => parent.startsWith('/') && isWithin(path, parent))
}

/** Empty and not writable in its place: a tmpfs left writable would be memory without a bound. */
function cover({ path, directory }: HiddenPath): string[] {
  if (!directory) return ['--ro-bind', '/dev/null', path]
  return ['--size', '4096', '--tmpfs', path, '--remount-ro', path]
}

/** The shell adds to the environment, so it is set anew. */
function held({ env }: ConfinedCommand): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return ['/bin/sh', '-c', gate, '/usr/bin/env', '-i', ...variables]
}

function limited(prlimit: string, command: ConfinedCommand): string[] {
  const processes = `--nproc=${processesMax}:${processesMax}`
  const limits = [processes, `--data=${command.memoryBytes}`, `--fsize=${fileSizeBytesMax}`]
  return [prlimit, ...limits, '--', command.program, ...command.arguments]
}
