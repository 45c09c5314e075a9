import * as z from 'zod'
import {
  cursorBytesMax,
  interruptBytesMax,
  messageBytesMax,
  pageItemsMax,
  titleBytesMax,
} from '../../limits.ts'
import { boundedInt, count, message, singleLine, workspaceLabel } from '../fields.ts'
import { hexId } from '../keys.ts'
import { deviceCommandSchema, queueEditSchema } from './commands.ts'

/** What a device asks for when it creates a task. @see spec/wire.md §6 */
const newTaskSchema = z.strictObject({
  title: singleLine(titleBytesMax),
  prompt: message(messageBytesMax),
  workspace: workspaceLabel,
})
export type NewTask = z.infer<typeof newTaskSchema>

const page = {
  workspace: workspaceLabel,
  cursor: singleLine(cursorBytesMax).nullable(),
  limit: boundedInt(1, pageItemsMax),
}

/** Operations on tasks. @see spec/wire.md §6 */
export const taskOperations = [
  z.strictObject({ kind: z.literal('task.create'), task: newTaskSchema }),
  z.strictObject({
    kind: z.literal('task.steer'),
    task: hexId,
    revision: count,
    prompt: message(messageBytesMax),
  }),
  z.strictObject({
    kind: z.literal('task.cancel'),
    task: hexId,
    revision: count,
    reason: singleLine(interruptBytesMax),
  }),
  z.strictObject({ kind: z.literal('task.archive'), task: hexId }),
  z.strictObject({ kind: z.literal('task.command'), command: deviceCommandSchema }),
  z.strictObject({ kind: z.literal('task.queue'), task: hexId, edit: queueEditSchema }),
  z.strictObject({ kind: z.literal('task.list'), query: z.strictObject(page) }),
  z.strictObject({
    kind: z.literal('task.read'),
    query: z.strictObject({ ...page, task: hexId, revision: count.nullable() }),
  }),
] as const
