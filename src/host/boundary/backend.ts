import { statSync } from 'node:fs'
import { firstLine, runHelper } from '../helper/run-helper.ts'
import { boundaryRefusal } from './refusal.ts'

/** A boundary's programs, found at fixed places and known to work here. */
export interface Backend {
  readonly program: string
  /** Sets limits on the inside. */
  readonly prlimit: string
}

/** Where the programs may be. Nothing is searched on PATH. */
export interface BackendPlaces {
  readonly bubblewrap: readonly string[]
  readonly prlimit: readonly string[]
}

const systemPlaces: BackendPlaces = {
  bubblewrap: ['/usr/bin/bwrap', '/run/current-system/sw/bin/bwrap'],
  prlimit: ['/usr/bin/prlimit', '/run/current-system/sw/bin/prlimit'],
}

let probed: Promise<Backend> | null = null

/** This machine's backend, found and probed once per process. Refuses as `findBackend` does. */
export function systemBackend(): Promise<Backend> {
  probed ??= findBackend(systemPlaces, process.platform)
  return probed
}

/**
 * Finds the backend and tries it. Refuses `io`: a system without one (unsupported), a missing program (unavailable),
 * a program that does not work or lacks a feature that runs need (inoperable).
 * @see spec/execution.md §5
 */
export async function findBackend(places: BackendPlaces, platform: NodeJS.Platform): Promise<Backend> {
  if (platform !== 'linux') {
    throw boundaryRefusal('unsupported', `commands can only be confined on Linux, and this is ${platform}`)
  }
  const program = firstProgram(places.bubblewrap, 'bubblewrap')
  const prlimit = firstProgram(places.prlimit, 'util-linux')
  await Promise.all([
    probe(program, plainProbe, 'bubblewrap'),
    probe(program, featureProbe(), 'bubblewrap with every feature'),
  ])
  return { program, prlimit }
}

const plainProbe = ['--ro-bind', '/', '/', '--dev', '/dev', '--', '/bin/sh', '-c', ':']

/** What every run asks of the kernel and of bubblewrap, around a command that does nothing. */
function featureProbe(): string[] {
  const flags =
    '--die-with-parent --new-session --unshare-user --cap-drop ALL --disable-userns --unshare-pid --unshare-ipc'
  const mounts =
    '--unshare-uts --unshare-cgroup-try --unshare-net --ro-bind / / --dev /dev --proc /proc --size 4096 --tmpfs /tmp'
  const user = ['--uid', String(process.getuid?.() ?? 0), '--gid', String(process.getgid?.() ?? 0)]
  const readOnly = ['--remount-ro', '/proc', '--remount-ro', '/dev']
  return [...flags.split(' '), ...user, ...mounts.split(' '), ...readOnly, '--', '/bin/sh', '-c', ':']
}

function firstProgram(places: readonly string[], name: string): string {
  const found = places.find((place) => statSync(place, { throwIfNoEntry: false })?.isFile() === true)
  if (found !== undefined) return found
  const message = `${name} is missing: it is looked for at ${places.join(' and ')}`
  throw boundaryRefusal('unavailable', message, `sudo apt-get install ${name}`)
}

async function probe(program: string, args: readonly string[], name: string): Promise<void> {
  const end = await runHelper(program, args)
  if (end.exitCode === 0) return
  const why =
    end.notStarted ?? (end.timedOut ? 'no answer in time' : firstLine(end.stderr) || `exit ${end.exitCode}`)
  throw boundaryRefusal('inoperable', `${name} does not work here: ${why}`)
}
