import { cp, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'

/** So long that the file of a task that was only submitted has about 4 KiB. */
const promptBytes = 1_480

/** How many bytes a file of these tasks has, within a few. */
export const taskFileBytes = 4_096

/** A task that waits, as the store's command that makes it. */
export function submitBytes(taskId: string): Uint8Array {
  const prompt = 'Keep the order of entries. '.repeat(60).slice(0, promptBytes).trimEnd()
  const workspace = { path: '/srv/work/bench', source_revision: null }
  const configuration = { adapter: 'bounded-command', model: null }
  const intent = { title: 'Measure', prompt, workspace, configuration }
  return commandBytes(`submit-${taskId}`, taskId, null, { type: 'submit', intent })
}

/** A short correction of a task of this revision. */
export function correctBytes(taskId: string, revision: number): Uint8Array {
  const action = { type: 'correct', prompt: `Correction ${revision}: keep the links.`, reason: 'measure' }
  return commandBytes(`correct-${revision}-${taskId}`, taskId, revision, action)
}

function commandBytes(
  command_id: string,
  task_id: string,
  revision: number | null,
  action: unknown,
): Uint8Array {
  const schema = 'openagents.coder.task-command.v1'
  return new TextEncoder().encode(
    JSON.stringify({ schema, command_id, task_id, expected_revision: revision, action }),
  )
}

/** The name of one of the tasks that are there already. */
export const filler = (index: number) => `filler-${String(index).padStart(4, '0')}`

/** A folder of its own; `remove` takes it away. */
export async function scratch(): Promise<{ base: string; remove(): Promise<void> }> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'drawbridge-bench-')))
  return { base, remove: () => rm(base, { recursive: true, force: true }) }
}

/** Makes a store of `count` tasks in `dir`. */
export async function fillStore(dir: string, count: number): Promise<void> {
  const store = await openTaskStore(realDisk, systemClock, dir)
  for (let start = 0; start < count; start += 32) {
    const some = Array.from({ length: Math.min(32, count - start) }, (_, index) => filler(start + index))
    await Promise.all(some.map((taskId) => store.apply(submitBytes(taskId))))
  }
  await store.close()
}

/** A copy of a store whose files nobody in this process has seen. */
export async function copyStore(from: string, to: string): Promise<string> {
  await cp(from, to, { recursive: true, preserveTimestamps: true })
  return to
}
