import { dirname } from 'node:path'
import { gitMountsMax } from '../../limits.ts'
import { isWithin } from './paths.ts'
import { boundaryRefusal } from './refusal.ts'

/**
 * The directories that must stay where they are, so that nothing read-only can be moved away and replaced: everything
 * between the checkout and a read-only path, and what lies `through` the way to one. A mount cannot be renamed or
 * removed, so each is to be mounted onto itself. Shallow first; none that is read-only itself. Pure.
 * Refuses `io` for more mounts than `gitMountsMax`.
 */
export function heldDirectories(
  checkout: string,
  readOnly: readonly string[],
  through: readonly string[],
): string[] {
  const held = new Set<string>()
  for (const lowest of [...readOnly.map((path) => dirname(path)), ...through]) {
    for (let above = lowest; above !== checkout && isWithin(above, checkout); above = dirname(above)) {
      if (held.has(above)) break
      held.add(above)
    }
  }
  const closed = new Set(readOnly)
  const open = [...held].filter((path) => !isClosed(path, checkout, closed))
  const mounts = readOnly.length + open.length
  if (mounts > gitMountsMax) {
    const counted = `${readOnly.length} git paths and ${open.length} directories above them`
    throw boundaryRefusal('unsafe', `too much to protect in ${checkout}: ${counted}, at most ${gitMountsMax}`)
  }
  return shallowFirst(open)
}

/** Paths with fewer components first, otherwise in the order given. Pure. */
export function shallowFirst(paths: readonly string[]): string[] {
  const depth = (path: string): number => path.split('/').length
  return [...paths].sort((a, b) => depth(a) - depth(b))
}

function isClosed(path: string, checkout: string, closed: ReadonlySet<string>): boolean {
  for (let at = path; at !== checkout && isWithin(at, checkout); at = dirname(at)) {
    if (closed.has(at)) return true
  }
  return closed.has(checkout)
}
