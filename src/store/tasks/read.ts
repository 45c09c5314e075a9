import { listReadsAtOnce } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { isIdentifier } from '../../protocol/text.ts'
import type { StoreHandle } from './handle.ts'
import type { Task } from './task.ts'
import type { VerifiedTask } from './task-file.ts'

/** Every task of the store, by the bytes of its id; one that does not validate fails them all. */
export async function readAllTasks(handle: StoreHandle): Promise<Task[]> {
  return (await readAllVerified(handle)).map(({ task }) => task)
}

/** The same with their records. */
export async function readAllVerified(handle: StoreHandle): Promise<VerifiedTask[]> {
  const names = await handle.disk.list(handle.layout.tasks)
  if (names === null) throw new Refusal('corrupt_store', 'task/ is missing')
  const ids = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length))
  // Identifiers are ASCII, so the order of their characters is the order of their bytes.
  const wanted = ids.filter(isIdentifier).sort()
  const tasks: VerifiedTask[] = []
  for (let start = 0; start < wanted.length; start += listReadsAtOnce) {
    const batch = wanted.slice(start, start + listReadsAtOnce).map((id) => handle.tasks.load(id))
    for (const verified of await Promise.all(batch)) {
      if (verified !== null) tasks.push(verified)
    }
  }
  return tasks
}

/** One task with its records; null when there is none or the name is no identifier. */
export async function readTask(handle: StoreHandle, taskId: string): Promise<VerifiedTask | null> {
  await handle.check()
  return isIdentifier(taskId) ? handle.tasks.load(taskId) : null
}
