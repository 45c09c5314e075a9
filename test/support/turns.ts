import type { SteeringRow } from '../../src/host/steering.ts'
import type { DiskLock } from '../../src/seams/disk.ts'
import { captureContext } from '../../src/store/tasks/context.ts'
import { effectId, effectivePrompt, traceFile } from '../../src/store/tasks/derived.ts'
import { parseExecutionGrant } from '../../src/store/tasks/grant.ts'
import type { TaskStore } from '../../src/store/tasks/store.ts'
import type { Admission, RunResult, Task } from '../../src/store/tasks/task.ts'

/** Creates a task whose workspace nobody else uses. */
export async function submitTask(tasks: TaskStore, taskId: string): Promise<void> {
  const command = {
    schema: 'openagents.coder.task-command.v1',
    command_id: `create-${taskId}`,
    task_id: taskId,
    expected_revision: null,
    action: {
      type: 'submit',
      intent: {
        title: 'Tidy the changelog',
        prompt: 'Sort the entries.\nKeep dates.',
        workspace: { path: `/srv/work/${taskId}`, source_revision: null },
        configuration: { adapter: 'bounded-command', model: null },
      },
    },
  }
  await tasks.apply(encode(command))
}

/** Applies a store command that no device sent. */
export async function ownerCommand(
  tasks: TaskStore,
  taskId: string,
  action: { type: 'cancel'; reason: string } | { type: 'continue'; prompt: string },
): Promise<void> {
  const { revision } = await tasks.show(taskId)
  const command = {
    schema: 'openagents.coder.task-command.v1',
    command_id: `owner-${action.type}-${revision}`,
    task_id: taskId,
    expected_revision: revision,
    action,
  }
  await tasks.apply(encode(command))
}

/** Records what a turn's owner records until its process runs. */
export async function beginTurn(tasks: TaskStore, taskId: string, owner?: DiskLock): Promise<Task> {
  const admission = admissionOf(await tasks.show(taskId))
  await tasks.record(taskId, { type: 'admitted', admission }, 1, owner)
  const admitted = await tasks.show(taskId)
  await tasks.record(taskId, { type: 'effect_intent', effect_id: effectId(admitted) }, 1, owner)
  return await tasks.record(taskId, { type: 'spawned', process_id: 4_242 }, 1, owner)
}

/** Records the end of a turn. */
export async function endTurn(
  tasks: TaskStore,
  taskId: string,
  how: Partial<Pick<RunResult, 'ending' | 'exit_code' | 'group_clear' | 'stop_requested'>> = {},
  owner?: DiskLock,
): Promise<Task> {
  const result: RunResult = {
    ending: 'exit 0',
    exit_code: 0,
    stop_requested: false,
    group_clear: true,
    elapsed_ms: 12,
    trace_digest: `sha256:${'e'.repeat(64)}`,
    candidate_snapshot: null,
    artifact_file: null,
    artifact_digest: null,
    output_incomplete: false,
    cost_status: 'unknown',
    ...how,
  }
  return await tasks.record(taskId, { type: 'result', result }, 1, owner)
}

/** A whole turn. */
export async function runTurn(tasks: TaskStore, taskId: string): Promise<Task> {
  await beginTurn(tasks, taskId)
  return await endTurn(tasks, taskId)
}

/** What settling records of a turn whose process is gone. */
export async function settleGoneTurn(tasks: TaskStore, taskId: string): Promise<void> {
  await endTurn(tasks, taskId, { ending: 'owner_process_ended', exit_code: null })
}

/** A steering row with the engine that a test needs. */
export function steering(of: Partial<SteeringRow> = {}): SteeringRow {
  return {
    adapter: 'bounded-command',
    native: 'turn_boundary',
    emulation: null,
    acknowledgment: 'next_turn_start',
    limitations: [],
    ...of,
  }
}

function admissionOf(task: Task): Admission {
  const grant = parseExecutionGrant(
    encode({
      schema: 'openagents.coder.task-execution-grant.v1',
      task_id: task.task_id,
      intent_digest: task.intent_digest,
      expected_revision: task.revision,
      program: '/usr/bin/dash',
      arguments: ['-c', ':'],
      write_workspace: false,
      wall_seconds: 30,
      stream_bytes: 65_536,
      memory_bytes: 268_435_456,
    }),
  )
  return {
    grant: grant.grant,
    grant_digest: grant.digest,
    grant_request: grant.text,
    workspace: task.intent.workspace.path,
    source_revision: 'a'.repeat(40),
    source_snapshot: 'b'.repeat(64),
    program_digest: `sha256:${'c'.repeat(64)}`,
    adapter: 'bounded-command',
    network: 'network_namespace_isolated',
    read_scope: 'workspace_and_system',
    authority: 'local_os_user',
    trace_file: traceFile(task),
    context: captureContext(task.revision, effectivePrompt(task)),
  }
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}
