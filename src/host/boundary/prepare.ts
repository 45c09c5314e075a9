import { systemBackend } from './backend.ts'
import type { BoundaryPolicy, ResolvedPolicy } from './policy.ts'
import { resolvePolicy } from './policy.ts'

/** A boundary whose paths were checked and whose backend works here. */
export interface Boundary {
  /** The backend's own path. */
  readonly program: string
  /** Sets the limits on the inside. */
  readonly prlimit: string
  readonly policy: ResolvedPolicy
}

/** Where a boundary's programs are, found and probed once per process. */
export interface Backend {
  readonly program: string
  readonly prlimit: string
}

/**
 * Checks a policy's paths, then finds the backend. Every refusal is `io`, and there is never an unwrapped command
 * instead.
 * @see spec/execution.md §5
 */
export async function prepareBoundary(
  policy: BoundaryPolicy,
  backend: () => Promise<Backend> = systemBackend,
): Promise<Boundary> {
  const resolved = await resolvePolicy(policy)
  return { ...(await backend()), policy: resolved }
}
