import { Refusal } from '../../protocol/refusal.ts'
import { type Clock, nowSeconds } from '../../seams/clock.ts'
import type { Disk } from '../../seams/disk.ts'
import { canonicalPath, containsPath } from '../probe/paths.ts'
import { pinProgram } from '../probe/program.ts'
import type { Workspace } from '../workspace.ts'
import { openAutostartJournal } from './journal.ts'
import { type AutostartEngine, type AutostartPolicy, readPolicy, writePolicy } from './policy.ts'
import { requireLinkedWorktree } from './writable-workspace.ts'

/** What the owner says when auto-start is switched on; the program's pin follows from it. */
export interface PolicyTerms {
  /** Labels of configured workspaces. */
  readonly workspaces: readonly string[]
  readonly max_running: number
  /** Any path to the program; the policy names its canonical one. */
  readonly program: string
  readonly arguments: readonly string[]
  readonly write_workspace: boolean
  readonly wall_seconds: number
  readonly stream_bytes: number
  readonly memory_bytes: number
}

/** Where a home's policy is changed, and what its labels mean. */
export interface PolicyHome {
  readonly disk: Disk
  readonly clock: Clock
  readonly home: string
  readonly workspaces: readonly Workspace[]
}

/**
 * Switches auto-start on, replacing any policy there was, and notes it in the journal.
 * Refuses `not_found` for an unknown label, `invalid_command` for terms out of bounds, `io` for a program that is not there
 * or a workspace to write that is no linked worktree, and `unsafe_path` for one that is no regular file or lies in a workspace which its own turns could change.
 * @returns the policy in force, with the program's canonical path and digest
 * @see spec/execution.md §13
 */
export async function switchOn(at: PolicyHome, terms: PolicyTerms): Promise<AutostartPolicy> {
  const unknown = terms.workspaces.find((label) => !at.workspaces.some((known) => known.label === label))
  if (unknown !== undefined) {
    throw new Refusal('not_found', `no workspace is called ${unknown}`, {
      field: 'workspaces',
      hint: `drawbridge workspace add ${unknown}=PATH`,
    })
  }
  const program = await canonicalPath(terms.program)
  const engine: AutostartEngine = {
    adapter: 'bounded-command',
    program,
    program_digest: await pinProgram(program),
    arguments: [...terms.arguments],
    write_workspace: terms.write_workspace,
    wall_seconds: terms.wall_seconds,
    stream_bytes: terms.stream_bytes,
    memory_bytes: terms.memory_bytes,
    model: null,
    effort: null,
  }
  const policy: AutostartPolicy = {
    schema: 'openagents.coder.host-autostart.v1',
    enabled: true,
    workspaces: [...terms.workspaces],
    max_running: terms.max_running,
    engine,
    changed_at: nowSeconds(at.clock),
  }
  const within = await workspaceAroundProgram(policy, at.workspaces)
  if (within !== null) throw programInside(within)
  if (terms.write_workspace) {
    for (const workspace of at.workspaces) {
      if (terms.workspaces.includes(workspace.label)) await requireLinkedWorktree(workspace)
    }
  }
  await writePolicy(at.disk, at.home, policy)
  await openAutostartJournal(at.disk, at.clock, at.home).append({ event: 'policy_on' })
  return policy
}

/**
 * Switches auto-start off; what runs goes on.
 * @returns the policy as it now stands, or null when there was none
 */
export async function switchOff(at: PolicyHome): Promise<AutostartPolicy | null> {
  const policy = await readPolicy(at.disk, at.home)
  if (policy === null || !policy.enabled) return policy
  const off = { ...policy, enabled: false, changed_at: nowSeconds(at.clock) }
  await writePolicy(at.disk, at.home, off)
  await openAutostartJournal(at.disk, at.clock, at.home).append({ event: 'policy_off' })
  return off
}

/**
 * The label of a workspace that the policy's turns may write and that holds its own program; null when there is none.
 * Such a turn could rewrite what the next one runs.
 */
export async function workspaceAroundProgram(
  policy: AutostartPolicy,
  workspaces: readonly Workspace[],
): Promise<string | null> {
  if (!policy.engine.write_workspace) return null
  for (const { label, path } of workspaces) {
    if (!policy.workspaces.includes(label)) continue
    const canonical = await canonicalPath(path).catch(() => path)
    if (containsPath(canonical, policy.engine.program)) return label
  }
  return null
}

function programInside(label: string): Refusal {
  return new Refusal('unsafe_path', `the program lies in the workspace ${label}, which its turns may write`)
}
