import { Refusal } from '../protocol/refusal.ts'

/**
 * A failed system call as the refusal `io`, naming what was tried and the system's own word for why. A refusal stays
 * what it is, and so does a bug.
 */
export function ioRefusal(action: string, path: string, cause: unknown): unknown {
  const code = errorCode(cause)
  if (cause instanceof Refusal || code === null) return cause
  return new Refusal('io', `cannot ${action} ${path}: ${code}`, { cause })
}

/** The refusal for a path that others could have reached or that is not what it should be. */
export function unsafePath(path: string, why: string): Refusal {
  return new Refusal('unsafe_path', `${path} ${why}`)
}

/** The system's error word (`ENOENT`), or null when `error` did not come from a system call. */
export function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}
