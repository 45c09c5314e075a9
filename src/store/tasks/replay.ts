import { hostEventsMax, identitiesMax, taskFileBytesMax } from '../../limits.ts'
import { isRefusal, Refusal } from '../../protocol/refusal.ts'
import { sha256Digest } from '../digest.ts'
import { parseTaskCommand, type TaskCommand } from './command.ts'
import { applyEvent } from './events.ts'
import { readStrict } from './strict.ts'
import type { Receipt, Task } from './task.ts'
import {
  receiptOf,
  type StoredCommand,
  type StoredEvent,
  taskFileSchemaName,
  taskFileShape,
  type VerifiedTask,
} from './task-file.ts'
import { applyCommand } from './transition.ts'

/**
 * Reads a task file and derives it again from its own records: every command is parsed and applied by today's
 * rules, every host event is held to its conditions, and each receipt and the stored task must come out the same,
 * field for field.
 * @param taskId the task that the file's name says
 * @throws `corrupt_store` for any difference; `unsupported_schema`; `limit_exceeded` for too many records
 * @see spec/store.md §11
 */
export function replayTaskFile(bytes: Uint8Array, taskId: string): VerifiedTask {
  const parsed = taskFileShape.safeParse(
    readStrict(bytes, taskFileBytesMax, `task file of ${taskId}`, 'corrupt_store'),
  )
  if (!parsed.success) throw corrupt(taskId, 'has another shape')
  const stored = parsed.data
  if (stored.schema !== taskFileSchemaName) {
    throw new Refusal('unsupported_schema', `the task file of ${taskId} has a schema of another program`)
  }
  if (stored.task.task_id !== taskId) throw corrupt(taskId, 'holds another task')
  return replayTask({ ...stored, events: stored.host_events ?? [] }, bytes.length)
}

/** One task and the records that it must follow from. */
export interface TaskRecords {
  readonly task: Task
  readonly commands: readonly StoredCommand[]
  readonly events: readonly StoredEvent[]
}

/**
 * Derives a task again from its records.
 * @param bytes length of the file that they were read from; 0 when they are not from a task file
 * @throws `corrupt_store` for any difference; `limit_exceeded` for too many records
 */
export function replayTask(records: TaskRecords, bytes: number): VerifiedTask {
  if (records.commands.length > identitiesMax || records.events.length > hostEventsMax) {
    throw new Refusal('limit_exceeded', `the task file of ${records.task.task_id} has too many records`)
  }
  return replayed(records, bytes)
}

interface Progress {
  task: Task | null
  submit: TaskCommand | null
  receipts: Map<string, Receipt>
  sequence: number
}

function replayed(stored: TaskRecords, bytes: number): VerifiedTask {
  const { events } = stored
  const taskId = stored.task.task_id
  const progress: Progress = { task: null, submit: null, receipts: new Map(), sequence: 0 }
  for (const record of inSequence(stored.commands, events)) {
    try {
      if ('request' in record) replayCommand(progress, record, taskId)
      else replayEvent(progress, record, taskId)
    } catch (error) {
      // What today's rules refuse was never accepted, whatever their reason.
      if (isRefusal(error)) throw corrupt(taskId, `does not replay: ${error.message}`, error)
      throw error
    }
  }
  const { task, submit, receipts, sequence } = progress
  if (task === null || submit === null || !isSame(task, stored.task)) {
    throw corrupt(taskId, 'does not say what its records make of the task')
  }
  return {
    task,
    submit,
    receipts,
    sequence,
    eventCount: events.length,
    bytes,
    commandsText: listText(stored.commands),
    eventsText: listText(events),
  }
}

function replayCommand(progress: Progress, { request, receipt }: StoredCommand, taskId: string): void {
  advance(progress, receipt.sequence)
  const bytes = new TextEncoder().encode(request)
  const command = parseTaskCommand(bytes)
  if (command.task_id !== taskId) throw mismatch('a command of another task')
  if (progress.receipts.has(command.command_id)) throw mismatch('a repeated command')
  const task = applyCommand(progress.task, command)
  const expected = receiptOf(task, command.command_id, sha256Digest(bytes), receipt.sequence)
  if (!isSame(expected, receipt)) throw mismatch('a receipt that differs')
  progress.task = task
  progress.submit ??= command
  progress.receipts.set(command.command_id, receipt)
}

function replayEvent(progress: Progress, record: StoredEvent, taskId: string): void {
  advance(progress, record.sequence)
  if (record.task_id !== taskId || progress.task === null) throw mismatch('an event of another task')
  progress.task = applyEvent(progress.task, record.event, record.epoch)
}

/** Sequences rise strictly; a gap is where an attempt was given up. */
function advance(progress: Progress, sequence: number): void {
  if (sequence <= progress.sequence) throw mismatch('a sequence that does not rise')
  progress.sequence = sequence
}

/** Both lists merged by sequence; each keeps its own order, so that a disorder in either is seen. */
function inSequence(
  commands: readonly StoredCommand[],
  events: readonly StoredEvent[],
): (StoredCommand | StoredEvent)[] {
  const merged: (StoredCommand | StoredEvent)[] = []
  let next = 0
  for (const event of events) {
    for (let command = commands[next]; command !== undefined; command = commands[next]) {
      if (command.receipt.sequence > event.sequence) break
      merged.push(command)
      next += 1
    }
    merged.push(event)
  }
  return [...merged, ...commands.slice(next)]
}

/** Both sides were built in the order of the schema, so equal text is equal field for field. */
function isSame(one: Task | Receipt, other: Task | Receipt): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function listText(records: readonly unknown[]): string {
  return JSON.stringify(records).slice(1, -1)
}

function mismatch(what: string): Refusal {
  return new Refusal('corrupt_store', what)
}

function corrupt(taskId: string, why: string, cause?: unknown): Refusal {
  return new Refusal('corrupt_store', `the task file of ${taskId} ${why}`, { cause })
}
