import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { Refusal } from '../../protocol/refusal.ts'

/** The path with every link followed. Refuses `io` when there is nothing there. */
export async function canonicalPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (cause) {
    throw new Refusal('io', `${path} cannot be found`, { cause })
  }
}

/** Whether anything is at `path`, at the end of its links. */
export function isThere(path: string): boolean {
  return existsSync(path)
}

/** Whether `outer` is `inner` or one of its ancestors, by whole components. Both are canonical. Pure. */
export function containsPath(outer: string, inner: string): boolean {
  return outer === inner || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
}

/** Whether one of two canonical paths contains the other. Pure. */
export function pathsOverlap(one: string, other: string): boolean {
  return containsPath(one, other) || containsPath(other, one)
}
