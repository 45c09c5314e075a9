import { closeSync, fstatSync, readlinkSync, readSync } from 'node:fs'
import {
  childPath,
  components,
  joinPath,
  type OpenDirectory,
  openChild,
  openDirectory,
} from '../snapshot/descriptor.ts'

/** What a confined read found: the content, or that there is nothing, or something that may not be read. */
export type ConfinedRead =
  | { readonly found: 'content'; readonly bytes: Uint8Array }
  | { readonly found: 'missing' }
  | { readonly found: 'too_large' }
  | { readonly found: 'unsafe' }

/**
 * Reads a regular file below `root` without following a link anywhere, by descriptors alone. A hard link, a special
 * file, a link on the way and a path that is not made of plain names are unsafe.
 * @param path relative, raw bytes
 * @see spec/evidence.md §6
 */
export function readConfined(root: string, path: Buffer, bytesMax: number): ConfinedRead {
  return inParent(root, path, (parent, name) => {
    const fd = openChild(parent, name)
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile() || stat.nlink !== 1) return { found: 'unsafe' }
      if (stat.size > bytesMax) return { found: 'too_large' }
      const buffer = Buffer.alloc(stat.size + 1)
      let length = 0
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(fd, buffer, length, buffer.length - length, length)
      }
      return length > bytesMax
        ? { found: 'too_large' }
        : { found: 'content', bytes: buffer.subarray(0, length) }
    } finally {
      closeSync(fd)
    }
  })
}

/** Reads a link's target below `root`, in the same way. */
export function readConfinedLink(root: string, path: Buffer): ConfinedRead {
  return inParent(root, path, (parent, name) => ({
    found: 'content',
    bytes: readlinkSync(childPath(parent, name), { encoding: 'buffer' }),
  }))
}

function inParent(
  root: string,
  path: Buffer,
  read: (parent: OpenDirectory, name: string) => ConfinedRead,
): ConfinedRead {
  const relative = path.toString('latin1')
  const names = components(relative)
  const name = names.at(-1)
  if (name === undefined || !isPlain(relative, names)) return { found: 'unsafe' }
  let parent: OpenDirectory | null = null
  try {
    const above = names.slice(0, -1)
    parent = openDirectory(above.reduce(joinPath, Buffer.from(root).toString('latin1')))
    return read(parent, name)
  } catch (error) {
    return { found: codeOf(error) === 'ENOENT' ? 'missing' : 'unsafe' }
  } finally {
    if (parent !== null) closeSync(parent.fd)
  }
}

/** Nothing but names and single separators between them. */
function isPlain(path: string, names: readonly string[]): boolean {
  return names.join('/') === path && !names.includes('.') && !names.includes('..')
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null
}
