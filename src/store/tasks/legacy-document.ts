import * as z from 'zod'
import { identitiesBytesMax, identitiesMax, taskFileBytesMax, tasksMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { isIdentifier } from '../../protocol/text.ts'
import { parseTaskCommand } from './command.ts'
import { identityLine } from './identities.ts'
import { replayTask, type TaskRecords } from './replay.ts'
import { readStrict } from './strict.ts'
import { type Task, taskSchema } from './task.ts'
import { encodeTaskFile, type StoredCommand, storedCommandSchema, storedEventSchema } from './task-file.ts'

const schemaOfV1 = 'openagents.coder.task-store.v1'
const schemaOfV2 = 'openagents.coder.task-store.v2'

const documentShape = z.strictObject({
  schema: z.string(),
  sequence: z.int().nonnegative(),
  tasks: z.record(z.string(), taskSchema),
  commands: z.array(storedCommandSchema),
  host_events: z.array(storedEventSchema).default([]),
})
type LegacyDocument = z.infer<typeof documentShape>

/** What a document of an older program becomes: the files of today's store, each ready to write. */
export interface Converted {
  /** By task id. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** The whole log of command ids. */
  readonly identities: Uint8Array
}

/**
 * Reads the one document that stores of v1 and v2 kept all tasks in, and derives every task again from its records.
 * Sequence numbers and receipts stay as they were. Pure: whatever refuses has changed nothing.
 * @throws `corrupt_store` when anything does not hold together; `unsupported_schema`; `limit_exceeded`
 * @see spec/store.md §12
 */
export function convertLegacyDocument(bytes: Uint8Array): Converted {
  const parsed = documentShape.safeParse(readStrict(bytes, taskFileBytesMax, 'tasks.json', 'corrupt_store'))
  if (!parsed.success) throw corrupt('has another shape')
  const document = parsed.data
  checkSchema(document)
  checkSequences(document)
  const files = new Map<string, Uint8Array>()
  for (const [taskId, records] of recordsByTask(document)) {
    files.set(taskId, encodeTaskFile(replayTask(records, 0)))
  }
  return { files, identities: identitiesOf(document.commands) }
}

function checkSchema({ schema, host_events }: LegacyDocument): void {
  if (schema !== schemaOfV1 && schema !== schemaOfV2) {
    throw new Refusal('unsupported_schema', 'tasks.json has a schema of another program')
  }
  if (schema === schemaOfV1 && host_events.length > 0) {
    throw corrupt('is of the first version, which had no host events')
  }
}

/** One count ran through the records of all tasks, each list in its order, without a gap. */
function checkSequences({ sequence, commands, host_events }: LegacyDocument): void {
  const ofCommands = commands.map(({ receipt }) => receipt.sequence)
  const ofEvents = host_events.map((event) => event.sequence)
  if (!rises(ofCommands) || !rises(ofEvents)) throw corrupt('has records out of their order')
  const all = [...ofCommands, ...ofEvents].sort((one, other) => one - other)
  if (all.length !== sequence || all.some((each, place) => each !== place + 1)) {
    throw corrupt('has records whose sequence is not 1 to the last')
  }
}

function rises(numbers: readonly number[]): boolean {
  return numbers.every((number, place) => number > (numbers[place - 1] ?? 0))
}

interface Gathered extends TaskRecords {
  readonly commands: StoredCommand[]
  readonly events: z.infer<typeof storedEventSchema>[]
}

function recordsByTask({ tasks, commands, host_events }: LegacyDocument): Map<string, TaskRecords> {
  const entries = Object.entries(tasks)
  if (entries.length > tasksMax || commands.length > identitiesMax) {
    throw new Refusal('limit_exceeded', 'tasks.json holds more than a store takes')
  }
  const gathered = new Map(entries.map(([id, task]) => [id, gatherFor(id, task)]))
  const ofTask = (taskId: string): Gathered => {
    const found = gathered.get(taskId)
    if (found === undefined) throw corrupt('has a record of a task that it does not have')
    return found
  }
  for (const command of commands) ofTask(command.receipt.task_id).commands.push(command)
  for (const event of host_events) ofTask(event.task_id).events.push(event)
  return gathered
}

function gatherFor(id: string, task: Task): Gathered {
  if (!isIdentifier(id) || task.task_id !== id) throw corrupt('has a task under another name')
  return { task, commands: [], events: [] }
}

/** One line a command, in their order over all tasks; an id was used once. Every command was replayed before. */
function identitiesOf(commands: readonly StoredCommand[]): Uint8Array {
  const ids = new Set(commands.map(({ receipt }) => receipt.command_id))
  if (ids.size !== commands.length) throw corrupt('uses a command id twice')
  const lines = commands.map(({ request }) => {
    const { command_id, task_id, action } = parseTaskCommand(new TextEncoder().encode(request))
    return identityLine({ command_id, task_id, submit: action.type === 'submit' })
  })
  const bytes = Buffer.concat(lines)
  if (bytes.length > identitiesBytesMax) {
    throw new Refusal('limit_exceeded', 'tasks.json holds more command ids than a store takes')
  }
  return bytes
}

function corrupt(why: string): Refusal {
  return new Refusal('corrupt_store', `tasks.json ${why}; nothing was changed`)
}
