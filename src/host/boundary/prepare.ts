import { type Backend, systemBackend } from './backend.ts'
import { type BoundaryPolicy, type ResolvedPolicy, resolvePolicy } from './policy.ts'
import { systemMounts } from './system-mounts.ts'

/** A boundary whose paths were checked and whose backend works here. */
export interface Boundary extends Backend {
  readonly policy: ResolvedPolicy
  /** Arguments that show the system's own directories. */
  readonly system: readonly string[]
}

/**
 * Checks a policy's paths, then finds the backend. Every refusal is `io` with a field `boundary.PROBLEM`, paths
 * before the machine; there is never an unwrapped command instead.
 * @see spec/execution.md §5
 */
export async function prepareBoundary(
  policy: BoundaryPolicy,
  backend: () => Promise<Backend> = systemBackend,
): Promise<Boundary> {
  const resolved = await resolvePolicy(policy)
  const { program, prlimit } = await backend()
  return { program, prlimit, policy: resolved, system: systemMounts(resolved.offline) }
}
