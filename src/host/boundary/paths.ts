import { realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { boundaryRefusal } from './refusal.ts'

/** Control characters, which no argument list and no mount table keeps apart from their surroundings. */
const unsafe = /[\u0000-\u001f\u007f-\u009f]/

/**
 * The canonical form of a boundary path. Refuses one that is relative, one that does not exist (also when only a
 * part before `..` is missing), and one that is not UTF-8 or holds control characters, before or after it is resolved.
 * @see spec/execution.md §5
 */
export async function canonicalPath(path: string): Promise<string> {
  if (!isAbsolute(path)) throw boundaryRefusal('relative', `boundary path is not absolute: ${shown(path)}`)
  if (unsafe.test(path))
    throw boundaryRefusal('unsafe', `boundary path has control characters: ${shown(path)}`)
  const bytes = await resolved(path)
  const text = bytes.toString('utf8')
  if (unsafe.test(text) || !Buffer.from(text).equals(bytes)) {
    throw boundaryRefusal('unsafe', `boundary path is not plain UTF-8: ${shown(text)}`)
  }
  return text
}

/** Whether `path` is `parent` or lies inside it, by whole components. Both canonical. */
export function isWithin(path: string, parent: string): boolean {
  return path === parent || parent === '/' || path.startsWith(`${parent}/`)
}

/** Whether one of the two contains the other, or they are the same. */
export function touches(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a)
}

/** `realpath` resolves `missing/../x` as text on some systems; the kernel walk that Node's native form does refuses. */
async function resolved(path: string): Promise<Buffer> {
  try {
    return await realpath(path, { encoding: 'buffer' })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw boundaryRefusal('resolve', `boundary path cannot be resolved (${code}): ${shown(path)}`)
  }
}

function shown(path: string): string {
  return JSON.stringify(path)
}
