import { type Entry, entryKey } from '../../src/commands/journal-entry.ts'
import { type JournalFile, parseJournal } from '../../src/commands/journal-file.ts'
import type { Task } from '../../src/store/tasks/task.ts'
import type { SimulatedMachine } from '../support/simulated-disk.ts'
import { taskIds } from './cast.ts'

export const storeDir = '/machine/tasks'

/** A command as the task file has it. */
export interface StoredCommand {
  readonly id: string
  readonly revision: number
  readonly type: string
}

export interface StoredTask {
  readonly task: Task
  readonly commands: readonly StoredCommand[]
}

/** What is on the disk at one moment. */
export interface OnDisk {
  /** Null when it does not parse. */
  readonly journal: JournalFile | null
  readonly entries: ReadonlyMap<string, Entry>
  readonly tasks: ReadonlyMap<string, StoredTask>
  /** How often a text had an effect. */
  readonly ran: ReadonlyMap<string, number>
  /** The files that all this comes from. */
  readonly files: readonly (Uint8Array | null)[]
}

const paths = [`${storeDir}/commands.json`, ...taskIds.map((id) => `${storeDir}/task/${id}.json`)]
const none = new Uint8Array(0)

/**
 * Reads the files as they are now, past the running host.
 * @param before what was read earlier; a file that is still the same is not read again
 */
export function onDisk(machine: SimulatedMachine, before: OnDisk | null): OnDisk {
  const files = paths.map((path) => machine.peek(path))
  if (before !== null && files.every((file, index) => file === before.files[index])) return before
  const journal = files[0] === before?.files[0] && before ? before.journal : journalIn(files[0] ?? none)
  const entries = (journal?.entries ?? []).map((entry) => [keyOf(entry), entry] as const)
  const tasks = new Map<string, StoredTask>()
  for (const [index, id] of taskIds.entries()) {
    const file = files[index + 1] ?? null
    const old = before?.files[index + 1] === file ? before?.tasks.get(id) : undefined
    if (file !== null) tasks.set(id, old ?? taskIn(file))
  }
  return { journal, entries: new Map(entries), tasks, ran: ranIn(tasks.values()), files }
}

function journalIn(bytes: Uint8Array): JournalFile | null {
  try {
    return parseJournal(bytes)
  } catch {
    return null
  }
}

function taskIn(bytes: Uint8Array): StoredTask {
  const { task, commands } = JSON.parse(new TextDecoder().decode(bytes))
  return { task, commands: commands.map(commandIn) }
}

function commandIn({ request, receipt }: { request: string; receipt: { revision: number } }): StoredCommand {
  const { command_id, action } = JSON.parse(request)
  return { id: command_id, revision: receipt.revision, type: action.type }
}

function ranIn(tasks: Iterable<StoredTask>): Map<string, number> {
  const ran = new Map<string, number>()
  for (const { task } of tasks) {
    const all = [...(task.follow_ups ?? []), ...(task.corrections ?? [])]
    for (const { prompt } of all) ran.set(prompt, (ran.get(prompt) ?? 0) + 1)
  }
  return ran
}

function keyOf({ sender, request }: Entry): string {
  return entryKey(sender.device, request.command)
}
