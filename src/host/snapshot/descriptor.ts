import { closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs'

const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
const slash = Buffer.from('/')
const root = Buffer.from('/')

/** An open directory. */
export interface OpenDirectory {
  readonly fd: number
  /** Its absolute path when it was opened, for systems that cannot open relative to a descriptor. */
  readonly path: Buffer
}

/**
 * Path of a child that the kernel resolves from the open directory itself, so that nothing above it can be exchanged.
 * Systems without `/proc` get the plain path.
 */
export function childPath(parent: OpenDirectory, name: Buffer | string): Buffer {
  const bytes = typeof name === 'string' ? Buffer.from(name) : name
  if (hasProc()) return Buffer.concat([Buffer.from(`/proc/self/fd/${parent.fd}/`), bytes])
  return joinPath(parent.path, bytes)
}

/** Opens a child for reading; a link in its place is an error, and a FIFO does not block. */
export function openChild(parent: OpenDirectory, name: Buffer | string): number {
  return openSync(childPath(parent, name), openFlags)
}

/** Opens a child directory; anything else in its place is an error. */
export function openChildDirectory(parent: OpenDirectory, name: Buffer | string): OpenDirectory {
  const fd = openSync(childPath(parent, name), openFlags | constants.O_DIRECTORY)
  return { fd, path: joinPath(parent.path, typeof name === 'string' ? Buffer.from(name) : name) }
}

/** Opens an absolute directory one component at a time from `/`, following no link. The caller closes it. */
export function openDirectory(path: Buffer): OpenDirectory {
  let open: OpenDirectory = { fd: openSync('/', openFlags | constants.O_DIRECTORY), path: root }
  for (const name of components(path)) {
    try {
      const next = openChildDirectory(open, name)
      closeSync(open.fd)
      open = next
    } catch (error) {
      closeSync(open.fd)
      throw error
    }
  }
  return open
}

/** The non-empty components of a path. */
export function components(path: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let start = 0; start <= path.length; ) {
    const end = path.indexOf(0x2f, start)
    const stop = end < 0 ? path.length : end
    if (stop > start) found.push(path.subarray(start, stop))
    start = stop + 1
  }
  return found
}

/** `parent/name`; an empty parent or name adds no separator. */
export function joinPath(parent: Buffer, name: Buffer): Buffer {
  if (parent.length === 0) return name
  if (name.length === 0) return parent
  return parent.at(-1) === 0x2f ? Buffer.concat([parent, name]) : Buffer.concat([parent, slash, name])
}

/** Whether the open file is the one with this device and inode. */
export function isSame(fd: number, id: { dev: bigint; ino: bigint }): boolean {
  const stat = fstatSync(fd, { bigint: true })
  return stat.dev === id.dev && stat.ino === id.ino
}

let procFound: boolean | null = null

function hasProc(): boolean {
  procFound ??= existsSync('/proc/self/fd')
  return procFound
}
