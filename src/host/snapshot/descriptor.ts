import { closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs'

const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/*
 * Paths and names in this folder are byte texts: strings with one character per byte (latin1), so that every name
 * that a file system can hold stays what it is, sorts by bytes, and costs no more than a string.
 */

/** An open directory. */
export interface OpenDirectory {
  readonly fd: number
  /** Its absolute path when it was opened, for systems that cannot open relative to a descriptor. */
  readonly path: string
}

/** The bytes that a byte text stands for. */
export function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/**
 * Path of a child that the kernel resolves from the open directory itself, so that nothing above it can be exchanged.
 * Systems without `/proc` get the plain path.
 */
export function childPath(parent: OpenDirectory, name: string): string | Buffer {
  const path = hasProc() ? `/proc/self/fd/${parent.fd}/${name}` : joinPath(parent.path, name)
  // Node takes a string as UTF-8, which is the same bytes only for ASCII.
  return isAscii(path) ? path : bytesOf(path)
}

/** Opens a child for reading; a link in its place is an error, and a FIFO does not block. */
export function openChild(parent: OpenDirectory, name: string): number {
  return openSync(childPath(parent, name), openFlags)
}

/** Opens a child directory; anything else in its place is an error. */
export function openChildDirectory(parent: OpenDirectory, name: string): OpenDirectory {
  const fd = openSync(childPath(parent, name), openFlags | constants.O_DIRECTORY)
  return { fd, path: joinPath(parent.path, name) }
}

/** Opens an absolute directory one component at a time from `/`, following no link. The caller closes it. */
export function openDirectory(path: string): OpenDirectory {
  let open: OpenDirectory = { fd: openSync('/', openFlags | constants.O_DIRECTORY), path: '/' }
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
export function components(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

/** `parent/name`; an empty parent adds no separator. */
export function joinPath(parent: string, name: string): string {
  if (parent === '') return name
  return parent.endsWith('/') ? parent + name : `${parent}/${name}`
}

/** Whether the open file is the one with this device and inode. */
export function isSame(fd: number, id: { dev: bigint; ino: bigint }): boolean {
  const stat = fstatSync(fd, { bigint: true })
  return stat.dev === id.dev && stat.ino === id.ino
}

function isAscii(text: string): boolean {
  return /^[\u0000-\u007f]*$/.test(text)
}

let procFound: boolean | null = null

function hasProc(): boolean {
  procFound ??= existsSync('/proc/self/fd')
  return procFound
}
