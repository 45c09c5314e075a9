import { draftGrant, type GrantTerms } from '../../src/host/grant-draft.ts'
import { type Clock, systemClock } from '../../src/seams/clock.ts'
import type { DiskLock } from '../../src/seams/disk.ts'
import { realDisk } from '../../src/store/disk.ts'
import { captureContext } from '../../src/store/tasks/context.ts'
import { effectivePrompt, traceFile } from '../../src/store/tasks/derived.ts'
import { parseExecutionGrant } from '../../src/store/tasks/grant.ts'
import { openTaskStore, type TaskStore } from '../../src/store/tasks/store.ts'
import type { Admission, Receipt, Task } from '../../src/store/tasks/task.ts'
import { tempDir } from './temp-dir.ts'

/** A home with a task store of its own, and short ways to its tasks. */
export interface HostStage {
  readonly home: string
  readonly storeDir: string
  readonly tasks: TaskStore
  submit(
    taskId: string,
    workspace: string,
    over?: { prompt?: string; sourceRevision?: string },
  ): Promise<Task>
  /** Applies a store command at the task's revision of the moment. */
  act(taskId: string, action: object): Promise<Receipt>
  /** Takes a task's owner lock, as its owner would. */
  ownerLock(taskId: string): Promise<DiskLock>
}

export async function hostStage(clock: Clock = systemClock): Promise<HostStage> {
  const home = await tempDir()
  const storeDir = `${home}/tasks`
  const tasks = await openTaskStore(realDisk, clock, storeDir)
  let commands = 0
  const apply = (taskId: string, expectedRevision: number | null, action: object): Promise<Receipt> => {
    commands += 1
    const command = {
      schema: 'openagents.coder.task-command.v1',
      command_id: `command-${commands}`,
      task_id: taskId,
      expected_revision: expectedRevision,
      action,
    }
    return tasks.apply(new TextEncoder().encode(JSON.stringify(command)))
  }
  return {
    home,
    storeDir,
    tasks,
    async submit(taskId, workspace, over = {}) {
      const intent = {
        title: 'Sort the list',
        prompt: over.prompt ?? 'Sort the entries.',
        workspace: { path: workspace, source_revision: over.sourceRevision ?? null },
        configuration: { adapter: 'bounded-command', model: null },
      }
      await apply(taskId, null, { type: 'submit', intent })
      return tasks.show(taskId)
    },
    act: async (taskId, action) => apply(taskId, (await tasks.show(taskId)).revision, action),
    ownerLock: (taskId) => realDisk.lock(tasks.ownerLockPath(taskId), 0, { create: true }),
  }
}

/** Terms of a grant that runs a shell script. */
export function shellTerms(script: string, over: Partial<GrantTerms> = {}): GrantTerms {
  return {
    program: '/usr/bin/dash',
    arguments: ['-c', script],
    write_workspace: true,
    wall_seconds: 20,
    stream_bytes: 65_536,
    memory_bytes: 268_435_456,
    ...over,
  }
}

/** The exact bytes of a grant for a task's current turn. */
export function grantBytes(task: Task, terms: GrantTerms): Uint8Array {
  return new TextEncoder().encode(draftGrant(task, terms).text)
}

/** An admission that the store takes for a task, made up without looking at any workspace. */
export function madeUpAdmission(task: Task, workspace: string): Admission {
  const { grant, digest, text } = parseExecutionGrant(grantBytes(task, shellTerms('true')))
  return {
    grant,
    grant_digest: digest,
    grant_request: text,
    workspace,
    source_revision: '0'.repeat(40),
    source_snapshot: '1'.repeat(64),
    program_digest: `sha256:${'2'.repeat(64)}`,
    adapter: 'bounded-command',
    network: 'network_namespace_isolated',
    read_scope: 'workspace_and_system',
    authority: 'local_os_user',
    trace_file: traceFile(task),
    context: captureContext(task.revision, effectivePrompt(task)),
  }
}

/** Records a made-up run up to its spawn, as an owner that then dies. */
export async function abandonedRun(
  stage: HostStage,
  taskId: string,
  workspace: string,
  processId: number | null,
): Promise<Task> {
  const { tasks } = stage
  const lock = await stage.ownerLock(taskId)
  const task = await tasks.show(taskId)
  await tasks.record(taskId, { type: 'admitted', admission: madeUpAdmission(task, workspace) }, 1, lock)
  let last = await tasks.record(taskId, { type: 'effect_intent', effect_id: `${taskId}:1:command` }, 1, lock)
  if (processId !== null)
    last = await tasks.record(taskId, { type: 'spawned', process_id: processId }, 1, lock)
  await lock.release()
  return last
}
