import * as z from 'zod'
import { interruptBytesMax, messageBytesMax, queueItemsMax } from '../../limits.ts'
import { count, distinct, message } from '../fields.ts'
import { hexId, unixSeconds } from '../keys.ts'
import { earns } from '../refusal-issues.ts'
import { isMessage, isSingleLine } from '../text.ts'

/** What a device's command does to a task. @see spec/wire.md §6 */
const commandActions = ['send', 'queue', 'steer', 'interrupt', 'answer'] as const
export type CommandAction = (typeof commandActions)[number]

/** A device's command to a task. @see spec/wire.md §6, spec/commands.md §1 */
export const deviceCommandSchema = z
  .strictObject({
    command: hexId,
    task: hexId,
    action: z.enum(commandActions),
    based_on: count,
    text: z.string(),
    emulate: z.boolean(),
    issued_at: unixSeconds,
  })
  .refine(({ action, emulate }) => !emulate || action === 'steer', earns('malformed', ['emulate']))
  .refine(({ action, text }) => isCommandText(action, text), earns('bounds', ['text']))
export type DeviceCommand = z.infer<typeof deviceCommandSchema>

/** Whether `text` may go with `action`: a reason of one line for an interrupt, otherwise a message. */
function isCommandText(action: CommandAction, text: string): boolean {
  return action === 'interrupt' ? isSingleLine(text, interruptBytesMax) : isMessage(text, messageBytesMax)
}

/** A look at, or a change of, the messages held for a task. @see spec/wire.md §6, spec/commands.md §5 */
export const queueEditSchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('list') }),
  z.strictObject({ action: z.literal('lease') }),
  z.strictObject({ action: z.literal('release') }),
  z.strictObject({ action: z.literal('edit'), command: hexId, text: message(messageBytesMax) }),
  z.strictObject({ action: z.literal('remove'), command: hexId }),
  z.strictObject({ action: z.literal('reorder'), commands: distinct(hexId, queueItemsMax) }),
  z.strictObject({ action: z.literal('send_now'), command: hexId }),
])
export type QueueEdit = z.infer<typeof queueEditSchema>
