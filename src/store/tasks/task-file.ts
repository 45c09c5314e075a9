import * as z from 'zod'
import { hostEventsMax, identitiesMax, taskFileBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { TaskCommand } from './command.ts'
import { type HostEvent, hostEventSchema } from './host-event.ts'
import { type Receipt, receiptSchema, type Task, taskSchema } from './task.ts'

export const taskFileSchemaName = 'openagents.coder.task-file.v1'

/** A command as it is stored: its exact text, and what it was answered with. */
export const storedCommandSchema = z.strictObject({ request: z.string(), receipt: receiptSchema })
export type StoredCommand = z.infer<typeof storedCommandSchema>

/** A host event as it is stored. */
export const storedEventSchema = z.strictObject({
  sequence: z.int().positive(),
  task_id: z.string(),
  epoch: z.int().positive(),
  event: hostEventSchema,
})
export type StoredEvent = z.infer<typeof storedEventSchema>

/** The stored form of one task: what was accepted and recorded, and the task that follows from it. */
export const taskFileShape = z.strictObject({
  schema: z.string(),
  task: taskSchema,
  commands: z.array(storedCommandSchema),
  host_events: z.array(storedEventSchema).min(1).exactOptional(),
})

/**
 * A task whose every fact follows from its records. The records are kept as the text they are stored in, so that
 * adding one never encodes the others again.
 */
export interface VerifiedTask {
  readonly task: Task
  readonly submit: TaskCommand
  readonly receipts: ReadonlyMap<string, Receipt>
  /** The largest sequence of any record. */
  readonly sequence: number
  readonly eventCount: number
  /** Length of its file, in bytes, when it was last read or written. */
  readonly bytes: number
  readonly commandsText: string
  readonly eventsText: string
}

/** The file of a task, ready to write. @throws `limit_exceeded` past 16 MiB */
export function encodeTaskFile(verified: VerifiedTask): Uint8Array {
  const head = `{"schema":"${taskFileSchemaName}","task":${JSON.stringify(verified.task)}`
  const events = verified.eventsText === '' ? '' : `,"host_events":[${verified.eventsText}]`
  const bytes = new TextEncoder().encode(`${head},"commands":[${verified.commandsText}]${events}}`)
  if (bytes.length > taskFileBytesMax) {
    throw new Refusal('limit_exceeded', `the task's file would be larger than ${taskFileBytesMax} bytes`)
  }
  return bytes
}

/** The receipt that accepting a command gives: the values right after it. @see spec/store.md §4 */
export function receiptOf(task: Task, commandId: string, requestDigest: string, sequence: number): Receipt {
  return {
    schema: 'openagents.coder.task-receipt.v1',
    command_id: commandId,
    task_id: task.task_id,
    request_digest: requestDigest,
    sequence,
    revision: task.revision,
    status: task.status,
    execution: task.execution,
    checks: task.checks,
  }
}

/** A task after one more accepted command; `before` is null when the command creates it. */
export function withCommand(
  before: VerifiedTask | null,
  after: { task: Task; command: TaskCommand; request: string; receipt: Receipt },
): VerifiedTask {
  const { task, command, request, receipt } = after
  const count = before?.receipts.size ?? 0
  if (count >= identitiesMax)
    throw new Refusal('limit_exceeded', `a task has at most ${identitiesMax} commands`)
  return {
    task,
    submit: before?.submit ?? command,
    receipts: new Map(before?.receipts).set(receipt.command_id, receipt),
    sequence: receipt.sequence,
    eventCount: before?.eventCount ?? 0,
    bytes: before?.bytes ?? 0,
    commandsText: joined(before?.commandsText ?? '', JSON.stringify({ request, receipt })),
    eventsText: before?.eventsText ?? '',
  }
}

/** A task after one more host event. @throws `limit_exceeded` past 8,192 of them */
export function withEvent(
  before: VerifiedTask,
  after: { task: Task; event: HostEvent; epoch: number },
): VerifiedTask {
  const { task, event, epoch } = after
  if (before.eventCount >= hostEventsMax) {
    throw new Refusal('limit_exceeded', `a task has at most ${hostEventsMax} host events`)
  }
  const sequence = before.sequence + 1
  return {
    ...before,
    task,
    sequence,
    eventCount: before.eventCount + 1,
    eventsText: joined(
      before.eventsText,
      JSON.stringify({ sequence, task_id: task.task_id, epoch, event: hostEventSchema.parse(event) }),
    ),
  }
}

function joined(records: string, record: string): string {
  return records === '' ? record : `${records},${record}`
}
