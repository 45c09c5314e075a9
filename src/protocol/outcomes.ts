import * as z from 'zod'
import { grantsMax, invitationStringBytesMax, queueItemsMax, workspacesMax } from '../limits.ts'
import { eventSchema } from './event.ts'
import { count, distinct, list, singleLine, workspaceLabel } from './fields.ts'
import { hexId, publicKey, unixSeconds } from './keys.ts'
import { earns } from './refusal-issues.ts'
import { rightsSchema } from './rights.ts'
import { taskDetailSchema, taskListSchema } from './task-pages.ts'

/** One device in the access book, as another device sees it. @see spec/wire.md §6 */
export const deviceEntrySchema = z.strictObject({
  device: publicKey,
  grant: hexId,
  rights: rightsSchema,
  epoch: count,
  origin: z.enum(['invitation', 'approval']),
  issued_at: unixSeconds,
  expires_at: unixSeconds,
  state: z.enum(['active', 'revoked', 'expired']),
  last_seen: unixSeconds.nullable(),
})
export type DeviceEntry = z.infer<typeof deviceEntrySchema>

/** The messages held for a task, in run order, and who may edit them now. @see spec/wire.md §6 */
export const queueViewSchema = z.strictObject({
  task: hexId,
  revision: count,
  lease: z.strictObject({ device: publicKey, expires_at: unixSeconds }).nullable(),
  items: list(
    z.strictObject({
      command: hexId,
      device: publicKey,
      /** Null for another device's message, and where the answer would grow too long. */
      text: z.string().nullable(),
      priority: z.boolean(),
    }),
    queueItemsMax,
  ),
})
export type QueueView = z.infer<typeof queueViewSchema>

/** A handling receipt: never evidence that anything ran. @see spec/wire.md §6 */
const receiptSchema = z.strictObject({ operation: z.string(), reference: hexId })

/** What a successful reply carries. @see spec/wire.md §6 */
export const outcomeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('granted'), authorization: eventSchema }),
  z.strictObject({ kind: z.literal('denied') }),
  z.strictObject({
    kind: z.literal('invitation'),
    invitation: hexId,
    code: singleLine(invitationStringBytesMax),
    expires_at: unixSeconds,
  }),
  z.strictObject({ kind: z.literal('cancelled'), invitation: hexId }),
  z.strictObject({ kind: z.literal('devices'), devices: list(deviceEntrySchema, grantsMax) }),
  z.strictObject({
    kind: z.literal('revoked'),
    device: publicKey,
    epoch: count,
    grants: distinct(hexId, grantsMax),
  }),
  z.strictObject({
    kind: z.literal('workspaces'),
    workspaces: distinct(workspaceLabel, workspacesMax).refine(isSorted, earns('malformed')),
  }),
  z.strictObject({ kind: z.literal('dispatched'), receipt: receiptSchema }),
  z.strictObject({ kind: z.literal('queue'), queue: queueViewSchema }),
  z.strictObject({ kind: z.literal('tasks'), tasks: taskListSchema }),
  z.strictObject({ kind: z.literal('task'), task: taskDetailSchema }),
])
export type Outcome = z.infer<typeof outcomeSchema>
export type OutcomeKind = Outcome['kind']

function isSorted(labels: readonly string[]): boolean {
  return labels.every((label, index) => index === 0 || (labels[index - 1] ?? '') < label)
}
