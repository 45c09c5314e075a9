import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tempDir } from '../../support/temp-dir.ts'
import { bytes, cancel, correct, goOn, newStore, runThrough, submit } from './samples.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document that tests take apart and alter
export type Loose = any

export const v2 = 'openagents.coder.task-store.v2'

/** The document that an older program would have kept of three tasks whose records lie between each other. */
export async function legacyDocument(): Promise<Loose> {
  const { store, dir } = await newStore()
  await store.apply(submit('task-1'))
  await store.apply(submit('task-2'))
  await store.apply(submit('task-3'))
  await runThrough(store, 'task-1')
  await store.apply(cancel('task-2', 1))
  await store.apply(goOn('task-1', 5))
  await store.apply(correct('task-3', 1))
  const files: Loose[] = []
  for (const id of ['task-1', 'task-2', 'task-3']) {
    files.push(JSON.parse(await readFile(join(dir, 'task', `${id}.json`), 'utf8')))
  }
  return merged(files)
}

/** Gives the records of several task files one count: in turns, so that each task has gaps. */
export function merged(files: readonly Loose[]): Loose {
  const document: Loose = { schema: v2, sequence: 0, tasks: {}, commands: [], host_events: [] }
  const queues = files.map((file) => {
    document.tasks[file.task.task_id] = file.task
    const records = [...file.commands, ...(file.host_events ?? [])]
    return records.sort((one, other) => sequenceOf(one) - sequenceOf(other))
  })
  while (queues.some((queue) => queue.length > 0)) {
    for (const queue of queues) {
      const record = queue.shift()
      if (record === undefined) continue
      document.sequence += 1
      if (record.receipt === undefined) document.host_events.push({ ...record, sequence: document.sequence })
      else {
        const receipt = { ...record.receipt, sequence: document.sequence }
        document.commands.push({ ...record, receipt })
      }
    }
  }
  return document
}

const sequenceOf = (record: Loose): number => record.receipt?.sequence ?? record.sequence

/** A store's directory as the older program left it, in a folder of its own. */
export async function legacyStore(document: unknown): Promise<string> {
  const dir = join(await tempDir(), 'tasks')
  await mkdir(dir, { mode: 0o700 })
  await writeFile(join(dir, 'tasks.lock'), '', { mode: 0o600 })
  await writeFile(join(dir, 'tasks.json'), bytes(document), { mode: 0o600 })
  return dir
}
