import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { realDisk } from '../../../src/store/disk.ts'
import { legacyDocument, legacyStore } from '../../store/tasks/legacy-samples.ts'
import { cancel, correct, goOn, newStore, runThrough, submit } from '../../store/tasks/samples.ts'

/** A command of the command line on a store in a known state. */
export interface Scenario {
  readonly name: string
  /** Makes the store. @returns its directory */
  make(): Promise<string>
  /** The words after `drawbridge task`, but for the store's. */
  readonly words: readonly string[]
  readonly input: Uint8Array
  /** The store is being made: one that was cut off in the middle is refused afterwards, never finished or begun anew. */
  readonly isNew?: true
}

const fromInput = ['--file', '-']
const nothing = new Uint8Array(0)

export const scenarios: readonly Scenario[] = [
  { name: 'submit', make: threeTasks, words: ['submit', ...fromInput], input: submit('task-9') },
  { name: 'correct', make: threeTasks, words: ['correct', ...fromInput], input: correct('task-1', 1) },
  { name: 'continue', make: threeTasks, words: ['continue', ...fromInput], input: goOn('task-2', 5) },
  { name: 'cancel', make: threeTasks, words: ['cancel', ...fromInput], input: cancel('task-1', 1) },
  { name: 'archive', make: threeTasks, words: ['archive', 'task-2', '--reason', 'done'], input: nothing },
  { name: 'restore', make: oneArchived, words: ['restore', 'task-3'], input: nothing },
  { name: 'migration', make: legacy, words: ['submit', ...fromInput], input: submit('task-9') },
  { name: 'first', make: noStore, words: ['submit', ...fromInput], input: submit('task-9'), isNew: true },
]

/** One that waits, one that has ended, and one that was cancelled and put away with a leftover of a write beside it. */
async function threeTasks(): Promise<string> {
  const { store, dir } = await newStore()
  for (const id of ['task-1', 'task-2', 'task-3']) await store.apply(submit(id))
  await runThrough(store, 'task-2')
  await store.apply(cancel('task-3', 1))
  await store.close()
  for (const id of ['task-1', 'task-2', 'task-9']) {
    await realDisk.create(join(dir, 'task', `.${id}.json.tmp`), submit(id))
  }
  return dir
}

async function oneArchived(): Promise<string> {
  const dir = await threeTasks()
  const entry = { at: 1_800_000_000, reason: 'old', by: { kind: 'owner' } }
  const archive = { schema: 'openagents.coder.task-archive.v1', tasks: { 'task-3': entry } }
  await realDisk.create(join(dir, 'archive.json'), new TextEncoder().encode(JSON.stringify(archive)))
  return dir
}

/** A document of the second version, beside what an earlier migration left and one that was cut off. */
async function legacy(): Promise<string> {
  const dir = await legacyStore(await legacyDocument())
  await realDisk.create(join(dir, 'tasks.v2.json'), new TextEncoder().encode('older'))
  await realDisk.create(join(dir, '.tasks.pending'), new TextEncoder().encode('half'))
  return dir
}

async function noStore(): Promise<string> {
  const { store, dir } = await newStore()
  await store.close()
  await rm(dir, { recursive: true })
  return join(dir, '..', basename(dir))
}
