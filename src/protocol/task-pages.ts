import * as z from 'zod'
import {
  cursorBytesMax,
  intentTitleBytesMax,
  noteBytesMax,
  pageItemsMax,
  runTasksPerItemMax,
} from '../limits.ts'
import { attentionSchema, phaseSchema } from './bodies/activity-summary.ts'
import { count, list, singleLine, workspaceLabel } from './fields.ts'
import { hexId, unixSeconds } from './keys.ts'

/** What a device sees of a task. The shape is ours. @see spec/wire.md §6 */
const item = {
  task: hexId,
  title: singleLine(intentTitleBytesMax),
  workspace: workspaceLabel,
  revision: count,
  status: z.enum(['queued', 'cancelled', 'running', 'cancel_requested', 'finished', 'unknown']),
  phase: phaseSchema,
  attention: attentionSchema,
  turn: z.int().positive(),
  turn_start_revision: count,
  updated_at: unixSeconds,
  /** What the task's engine can do with a steer. */
  steering: z.strictObject({
    native: z.enum(['mid_turn', 'turn_boundary', 'unsupported']),
    emulation: z.literal('cancel_and_continue').nullable(),
  }),
  /** Why it waits, for a person. */
  note: singleLine(noteBytesMax).nullable(),
  run_tasks: list(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      status: z.enum(['pending', 'in_progress', 'completed', 'blocked']),
    }),
    runTasksPerItemMax,
  ),
}
const taskItemSchema = z.strictObject(item)
export type TaskItem = z.infer<typeof taskItemSchema>

/** One step of a turn's transcript. `text` is a head; `cut` says that there is more on the host. */
const taskStepSchema = z.strictObject({
  turn: z.int().positive(),
  step: z.int().positive(),
  at: unixSeconds,
  role: z.enum(['user', 'system', 'agent']),
  text: z.string(),
  cut: z.boolean(),
  /** Where output came from; null for what is not output. */
  stream: z.enum(['stdout', 'stderr']).nullable(),
  /** With the step that ends a turn: how it ended. */
  ending: z.string().nullable(),
  exit_code: z.int().nullable(),
})
export type TaskStep = z.infer<typeof taskStepSchema>

const next = singleLine(cursorBytesMax).nullable()

/** A page of `task.list`. */
export const taskListSchema = z.strictObject({ items: list(taskItemSchema, pageItemsMax), next })
export type TaskList = z.infer<typeof taskListSchema>

/** An answer to `task.read`: the task, a page of its steps, newest page first, and what it cost as far as known. */
export const taskDetailSchema = z.strictObject({
  ...item,
  /** How trustworthy the transcript is, in the evidence page's words. */
  evidence: z.string(),
  cost_usd: z.number().nullable(),
  cost_status: z.string(),
  steps: list(taskStepSchema, pageItemsMax),
  next,
})
export type TaskDetail = z.infer<typeof taskDetailSchema>
