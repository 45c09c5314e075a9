import { sha256Digest } from '../../../src/protocol/digest.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import type { Disk } from '../../../src/seams/disk.ts'
import { realDisk } from '../../../src/store/disk.ts'
import type { TaskAction } from '../../../src/store/tasks/command.ts'
import { captureContext } from '../../../src/store/tasks/context.ts'
import { effectId, effectivePrompt, traceFile } from '../../../src/store/tasks/derived.ts'
import { parseExecutionGrant } from '../../../src/store/tasks/grant.ts'
import type { HostEvent } from '../../../src/store/tasks/host-event.ts'
import type { Intent } from '../../../src/store/tasks/intent.ts'
import { openTaskStore, type TaskStore, type TaskStoreOptions } from '../../../src/store/tasks/store.ts'
import type { Admission, Receipt, RunResult, Task } from '../../../src/store/tasks/task.ts'
import { tempDir } from '../../support/temp-dir.ts'

export const intent: Intent = {
  title: 'Tidy the changelog',
  prompt: 'Sort the entries.\nKeep dates.',
  workspace: { path: '/srv/work/demo', source_revision: null },
  configuration: { adapter: 'bounded-command', model: null },
}

export const emptyDigest = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export function bytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
}

/** The bytes of a store command. */
export function command(
  commandId: string,
  taskId: string,
  revision: number | null,
  action: TaskAction,
): Uint8Array {
  return bytes({
    schema: 'openagents.coder.task-command.v1',
    command_id: commandId,
    task_id: taskId,
    expected_revision: revision,
    action,
  })
}

export const submit = (taskId: string, commandId = `submit-${taskId}`, wanted: Intent = intent) =>
  command(commandId, taskId, null, { type: 'submit', intent: wanted })
export const cancel = (taskId: string, revision: number, commandId = `cancel-${revision}-${taskId}`) =>
  command(commandId, taskId, revision, { type: 'cancel', reason: 'no longer wanted' })
export const correct = (taskId: string, revision: number, commandId = `correct-${revision}-${taskId}`) =>
  command(commandId, taskId, revision, {
    type: 'correct',
    prompt: `prompt ${revision}`,
    reason: 'scope changed',
  })
export const goOn = (taskId: string, revision: number, commandId = `continue-${revision}-${taskId}`) =>
  command(commandId, taskId, revision, { type: 'continue', prompt: `and then ${revision}` })

/** The text of a grant that fits a task as it stands. */
export function grantText(task: Task, changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    schema: 'openagents.coder.task-execution-grant.v1',
    task_id: task.task_id,
    intent_digest: task.intent_digest,
    expected_revision: task.revision,
    program: '/usr/bin/dash',
    arguments: ['-c', 'sort -o list.txt list.txt'],
    write_workspace: true,
    wall_seconds: 30,
    stream_bytes: 65_536,
    memory_bytes: 268_435_456,
    ...changes,
  })
}

/** An admission that fits a task as it stands. */
export function admissionOf(task: Task, workspace = task.intent.workspace.path): Admission {
  const { grant, digest, text } = parseExecutionGrant(bytes(grantText(task)))
  return {
    grant,
    grant_digest: digest,
    grant_request: text,
    workspace,
    source_revision: 'a'.repeat(40),
    source_snapshot: 'b'.repeat(64),
    program_digest: sha256Digest('program'),
    adapter: 'bounded-command',
    network: 'network_namespace_isolated',
    read_scope: 'workspace_and_system',
    authority: 'local_os_user',
    trace_file: traceFile(task),
    context: captureContext(task.revision, effectivePrompt(task)),
  }
}

export const admitted = (task: Task, workspace?: string): HostEvent => ({
  type: 'admitted',
  admission: admissionOf(task, workspace),
})

export const effectIntent = (task: Task): HostEvent => ({ type: 'effect_intent', effect_id: effectId(task) })

export function resultEvent(changes: Partial<RunResult> = {}): HostEvent {
  return {
    type: 'result',
    result: {
      ending: 'exit 0',
      exit_code: 0,
      stop_requested: false,
      group_clear: true,
      elapsed_ms: 12,
      trace_digest: emptyDigest,
      candidate_snapshot: 'c'.repeat(64),
      artifact_file: null,
      artifact_digest: null,
      output_incomplete: false,
      cost_status: 'unknown',
      ...changes,
    },
  }
}

/** A store in a fresh directory, on the real disk unless another is given. */
export async function newStore(
  disk: Disk = realDisk,
  options: TaskStoreOptions = {},
): Promise<{ store: TaskStore; dir: string; reopen(): Promise<TaskStore> }> {
  const dir = `${await tempDir()}/tasks`
  const reopen = () => openTaskStore(disk, systemClock, dir, options)
  return { store: await reopen(), dir, reopen }
}

/** Submits a task and admits a run of it. */
export async function runningTask(store: TaskStore, taskId: string, workspace?: string): Promise<Task> {
  await store.apply(submit(taskId))
  return store.record(taskId, admitted(await store.show(taskId), workspace), 1)
}

/** Runs a task that was submitted, or continued, through to a result. */
export async function runThrough(
  store: TaskStore,
  taskId: string,
  result: Partial<RunResult> = {},
): Promise<Task> {
  const admission = await store.record(taskId, admitted(await store.show(taskId)), 1)
  await store.record(taskId, effectIntent(admission), 1)
  await store.record(taskId, { type: 'spawned', process_id: 4_242 }, 1)
  return store.record(taskId, resultEvent(result), 1)
}

export function words({ revision, status, execution, checks }: Task | Receipt): unknown[] {
  return [revision, status, execution, checks]
}
