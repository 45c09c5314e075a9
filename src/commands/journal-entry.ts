import * as z from 'zod'
import { hexId, unixSeconds } from '../protocol/keys.ts'
import { isIdentifier } from '../protocol/text.ts'

/** The schema word of `commands.json`. */
export const journalSchema = 'openagents.coder.device-commands.v1'

/** What a device may ask of a task. On the wire this is the command's `action`. */
export const commandKinds = ['send', 'queue', 'steer', 'interrupt', 'answer'] as const
export type CommandKind = (typeof commandKinds)[number]

/** Why a recorded command was not carried out. @see spec/commands.md §1 */
export const rejectReasons = [
  'conflict',
  'unsupported',
  'unavailable',
  'revoked',
  'stale',
  'missing',
  'bounds',
] as const
export type RejectReason = (typeof rejectReasons)[number]

const identifier = z.string().refine(isIdentifier)
const revision = z.int().nonnegative()

/** Who sent a command, and under which grant; the owner needs none. */
export const senderSchema = z.strictObject({
  device: hexId,
  grant: hexId.nullable(),
  epoch: z.int().nonnegative().nullable(),
})

/** A command as its device minted it. It is never changed, so a replay always still matches. */
export const commandRequestSchema = z.strictObject({
  command: hexId,
  task: identifier,
  kind: z.enum(commandKinds),
  based_on: revision,
  text: z.string(),
  emulate: z.boolean(),
  issued_at: unixSeconds,
})

const outcomeSchema = z.union([
  z.strictObject({ state: z.literal('done'), outcome: z.literal('applied'), revision }),
  z.strictObject({ state: z.literal('done'), outcome: z.literal('rejected'), reason: z.enum(rejectReasons) }),
  z.strictObject({ state: z.literal('done'), outcome: z.enum(['expired', 'superseded', 'cancelled']) }),
])

const dispatchingSchema = z.strictObject({
  state: z.literal('dispatching'),
  bytes: z.string(),
  then_hold: z.boolean(),
})

const stateSchema = z.union([
  z.strictObject({ state: z.literal('received') }),
  z.strictObject({ state: z.literal('held'), priority: z.boolean() }),
  dispatchingSchema,
  outcomeSchema,
])

/** One command in the journal. @see spec/commands.md §1 */
export const entrySchema = z.strictObject({
  sender: senderSchema,
  request: commandRequestSchema,
  received_at: unixSeconds,
  state: stateSchema,
  edited: z.string().exactOptional(),
  promoted: z.literal(true).exactOptional(),
})

/** Who may edit a task's queue, and until when. */
export const leaseSchema = z.strictObject({ task: identifier, device: hexId, expires_at: unixSeconds })

export type Sender = Readonly<z.infer<typeof senderSchema>>
export type CommandRequest = Readonly<z.infer<typeof commandRequestSchema>>
export type Outcome = Readonly<z.infer<typeof outcomeSchema>>
export type Dispatching = Readonly<z.infer<typeof dispatchingSchema>>
export type EntryState = Readonly<z.infer<typeof stateSchema>>
export type Entry = Readonly<z.infer<typeof entrySchema>>
export type Lease = Readonly<z.infer<typeof leaseSchema>>

/** What names a command: the same ID from another device is another command. */
export function entryKey(device: string, command: string): string {
  return `${device}:${command}`
}

/** Whether nothing can change this entry any more. */
export function isDone(entry: Entry): boolean {
  return entry.state.state === 'done'
}

/** Whether the entry is a held message, which its sender may still change. */
export function isHeld(entry: Entry): boolean {
  return entry.state.state === 'held'
}

/** Whether the entry runs before the held messages that have no priority. */
export function hasPriority(entry: Entry): boolean {
  return (entry.state.state === 'held' && entry.state.priority) || entry.promoted === true
}

/** The text that the entry would run with: the one put in place of the original, if any. */
export function textOf(entry: Entry): string {
  return entry.edited ?? entry.request.text
}

/** Whether `a` and `b` say the same in every field, as an exact replay does. */
export function sameRequest(a: CommandRequest, b: CommandRequest): boolean {
  return (
    a.command === b.command &&
    a.task === b.task &&
    a.kind === b.kind &&
    a.based_on === b.based_on &&
    a.text === b.text &&
    a.emulate === b.emulate &&
    a.issued_at === b.issued_at
  )
}
