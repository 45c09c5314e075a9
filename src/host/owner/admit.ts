import { Refusal } from '../../protocol/refusal.ts'
import { captureContext } from '../../store/tasks/context.ts'
import { effectivePrompt, traceFile, unconsumedSteers } from '../../store/tasks/derived.ts'
import type { ExecutionGrant, ParsedGrant } from '../../store/tasks/grant.ts'
import type { Admission, Correction, Task } from '../../store/tasks/task.ts'
import { boundedCommand } from '../../store/tasks/words.ts'
import { type Boundary, prepareBoundary } from '../boundary/prepare.ts'
import { commonDir, headRevision } from '../helper/git.ts'
import { canonicalPath, isThere, pathsOverlap } from '../probe/paths.ts'
import { pinProgram } from '../probe/program.ts'
import { settleOverlapping } from '../settle.ts'
import type { Snapshot } from '../snapshot/entry.ts'
import { takeSnapshot } from '../snapshot/take.ts'
import { checkCurrent } from './current.ts'
import type { Ownership } from './execute.ts'
import { checkStandingPin } from './standing-pin.ts'

/** A turn whose admission is recorded. */
export interface Admitted {
  /** As it stood before the admission: what the turn was granted on. */
  readonly task: Task
  readonly grant: ExecutionGrant
  readonly admission: Admission
  readonly boundary: Boundary
  /** The workspace before the command. */
  readonly before: Snapshot
  /** The corrections that this turn takes in. */
  readonly steers: readonly Correction[]
}

/**
 * Checks every pin of a grant in the page's order, then records the admission. A refusal records nothing.
 * @throws `invalid_transition`, `revision_mismatch`, `io`, `unsafe_path`, `invalid_command` or `workspace_busy`
 * @see spec/execution.md §4, steps 4 to 11
 */
export async function admit(ownership: Ownership, parsed: ParsedGrant): Promise<Admitted> {
  const { deps, recorder, lock, taskId } = ownership
  const { grant } = parsed
  const store = recorder.store()
  const task = await store.show(taskId)
  checkCurrent(task, grant)
  const workspace = await apartFromStore(task.intent.workspace.path, store.dir)
  const programDigest = await pinProgram(grant.program)
  await checkStandingPin(deps.disk, deps.home, parsed, programDigest)
  const source = await pinSource(task, workspace)
  const before = await pinSnapshot(workspace, grant)
  const boundary = await prepareBoundary({
    ...(grant.write_workspace ? { checkout: workspace, tree: before } : {}),
    readable: [workspace, grant.program],
    sealed: [store.dir, source.gitDirectory],
    // A home that was never made has nothing to hide.
    hidden: [...(isThere(deps.home) ? [deps.home] : []), source.gitDirectory],
    offline: true,
  })
  const admission: Admission = {
    grant,
    grant_digest: parsed.digest,
    grant_request: parsed.text,
    workspace,
    source_revision: source.revision,
    source_snapshot: before.digest,
    program_digest: programDigest,
    adapter: boundedCommand,
    network: 'network_namespace_isolated',
    read_scope: 'workspace_and_system',
    authority: 'local_os_user',
    trace_file: traceFile(task),
    context: captureContext(task.revision, effectivePrompt(task)),
  }
  await settleOverlapping({ disk: deps.disk, tasks: store }, workspace, taskId)
  await recorder.record({ type: 'admitted', admission }, lock)
  return { task, grant, admission, boundary, before, steers: unconsumedSteers(task) }
}

/** The canonical workspace, which neither holds the store nor lies in it. */
async function apartFromStore(path: string, storeDir: string): Promise<string> {
  const workspace = await canonicalPath(path)
  if (pathsOverlap(workspace, await canonicalPath(storeDir))) {
    throw new Refusal('unsafe_path', 'the workspace and the task store must not contain each other')
  }
  return workspace
}

async function pinSource(task: Task, workspace: string): Promise<{ revision: string; gitDirectory: string }> {
  const revision = await headRevision(workspace)
  const pinned = task.intent.workspace.source_revision
  if (pinned !== null && pinned !== revision) {
    throw new Refusal('invalid_command', `the workspace is at ${revision}, the task was made for ${pinned}`)
  }
  return { revision, gitDirectory: await canonicalPath(await commonDir(workspace)) }
}

async function pinSnapshot(workspace: string, grant: ExecutionGrant): Promise<Snapshot> {
  const snapshot = await takeSnapshot(workspace)
  if (!snapshot.complete) {
    throw new Refusal('invalid_command', `the workspace cannot be read whole: ${snapshot.faults[0] ?? ''}`)
  }
  const expected = grant.expected_source_snapshot
  if (expected !== null && expected !== snapshot.digest) {
    throw new Refusal('invalid_command', 'the workspace is not the tree that the grant was written for')
  }
  return snapshot
}
