import { stat } from 'node:fs/promises'
import type { Snapshot } from '../snapshot/entry.ts'
import { findGitPaths } from './git-paths.ts'
import { canonicalPath, isWithin, touches } from './paths.ts'
import { boundaryRefusal } from './refusal.ts'

/** What a boundary shows and hides. Every path is absolute and exists. @see spec/execution.md §5 */
export interface BoundaryPolicy {
  /** Only of a writing policy: what the command may change. */
  readonly checkout?: string
  /** A complete snapshot of the checkout, if there is one already; it spares reading the tree again. */
  readonly tree?: Snapshot
  readonly writable?: readonly string[]
  /** Never writable. */
  readonly protected?: readonly string[]
  /** Never writable, nor may it touch a writable path. */
  readonly sealed?: readonly string[]
  /** Not visible, even where a visible path contains it. */
  readonly hidden?: readonly string[]
  /** Visible beside the system's own directories. At least one. */
  readonly readable: readonly string[]
  readonly offline: boolean
}

/** The same policy, every path canonical and checked. */
export interface ResolvedPolicy {
  readonly checkout: string | null
  readonly writable: readonly string[]
  readonly readable: readonly string[]
  readonly hidden: readonly HiddenPath[]
  readonly offline: boolean
  /** What git runs or reads settings from inside a checkout, at any depth: visible, not writable. */
  readonly git: readonly string[]
  /** Directories inside a checkout that may be written and must not be moved, lest something of git's moves along. */
  readonly held: readonly string[]
}

/** Something that is covered where it would be visible. */
export interface HiddenPath {
  readonly path: string
  readonly directory: boolean
}

/**
 * Resolves and checks a policy. Refuses `io`: relative, missing or unsafe paths first, then overlaps: a writable path
 * that touches a protected or sealed one, a checkout that holds a protected one or touches a sealed one, a visible
 * path that hiding would cover. A checkout inside a protected path is the one nesting that is allowed.
 */
export async function resolvePolicy(policy: BoundaryPolicy): Promise<ResolvedPolicy> {
  const checkout = policy.checkout === undefined ? null : await canonicalPath(policy.checkout)
  const writable = await canonicalPaths(policy.writable)
  const protectedPaths = await canonicalPaths(policy.protected)
  const sealed = await canonicalPaths(policy.sealed)
  const hiddenPaths = await canonicalPaths(policy.hidden)
  const readable = await canonicalPaths(policy.readable)
  for (const path of writable) {
    refuseWhere(
      [...protectedPaths, ...sealed],
      (other) => touches(path, other),
      `writable path ${path} touches`,
    )
  }
  if (checkout !== null) {
    refuseWhere(
      protectedPaths,
      (other) => isWithin(other, checkout),
      `checkout ${checkout} holds the protected path`,
    )
    refuseWhere(sealed, (other) => touches(checkout, other), `checkout ${checkout} touches the sealed path`)
  }
  if (readable.length === 0)
    throw boundaryRefusal('unsupported', 'a boundary without a readable path is not supported')
  const visible = [...readable, ...writable, ...(checkout === null ? [] : [checkout])]
  const hidden = await Promise.all(hiddenPaths.map(hiddenPath))
  for (const { path } of hidden) {
    if (!visible.some((other) => isWithin(path, other))) continue
    refuseWhere(visible, (other) => isWithin(other, path), `hiding ${path} would cover`)
  }
  const found = checkout === null ? { git: [], held: [] } : await findGitPaths(checkout, policy.tree)
  return { checkout, writable, readable, hidden, offline: policy.offline, ...found }
}

/** One at a time, so that the first path that is wrong is the one that is named. */
async function canonicalPaths(paths: readonly string[] = []): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) found.push(await canonicalPath(path))
  return found
}

function refuseWhere(paths: readonly string[], overlaps: (path: string) => boolean, what: string): void {
  const found = paths.find(overlaps)
  if (found !== undefined) throw boundaryRefusal('overlap', `${what} ${found}`)
}

async function hiddenPath(path: string): Promise<HiddenPath> {
  return { path, directory: (await stat(path)).isDirectory() }
}
