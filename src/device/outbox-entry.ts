import * as z from 'zod'
import { clockSkewSeconds } from '../limits.ts'
import { eventSchema } from '../protocol/event.ts'
import { count, workspaceLabel } from '../protocol/fields.ts'
import { hexId, publicKey, unixSeconds } from '../protocol/keys.ts'
import { type Operation, operationSchema } from '../protocol/operations.ts'
import { wireCodes } from '../protocol/refusal.ts'
import { rightSchema } from '../protocol/rights.ts'

/** The last request that carried an entry. It is saved before it is sent. */
const attemptSchema = z.strictObject({
  request: hexId,
  event: eventSchema,
  /** Null when the owner asked. */
  grant: hexId.nullable(),
  issued_at: unixSeconds,
  expires_at: unixSeconds,
})
export type Attempt = z.infer<typeof attemptSchema>

const common = {
  /** The command ID; for any other operation its request ID. Minted once. */
  id: hexId,
  kind: z.string(),
  task: hexId,
  queued_at: unixSeconds,
}

/** Something that was to be sent and has no answer yet. */
export const undecidedSchema = z.strictObject({
  ...common,
  state: z.literal('undecided'),
  op: operationSchema,
  attempt: attemptSchema.nullable(),
  /** Why there is no answer yet, for people. */
  why: z.string(),
})
export type Undecided = z.infer<typeof undecidedSchema>

/** One that was answered. What it said is no longer kept. */
export const decidedSchema = z.strictObject({
  ...common,
  state: z.enum(['accepted', 'refused']),
  code: z.enum(wireCodes).nullable(),
  missing: rightSchema.nullable(),
})

/** The durable outbox: entries in the order they were queued, which is the order they are sent. */
export const outboxSchema = z.strictObject({
  schema: z.literal('drawbridge.device-outbox.v1'),
  /** The host that the entries are for. */
  host: publicKey,
  entries: z.array(z.discriminatedUnion('state', [undecidedSchema, decidedSchema])),
  /** What this device last saw of a task: what its next command is based on, and where to read it. */
  seen: z.array(
    z.strictObject({ task: hexId, revision: count.nullable(), workspace: workspaceLabel.nullable() }),
  ),
})
export type OutboxFile = z.infer<typeof outboxSchema>

/** What to do about an entry now. */
export type SendPlan =
  /** The signed request is still fresh: the very same event again. */
  | { readonly plan: 'resend'; readonly attempt: Attempt }
  /** Sign now, under this request ID; null: under a fresh one. */
  | { readonly plan: 'sign'; readonly request: string | null }
  /** Its last request may still be fresh to the host: not before this time, Unix seconds. */
  | { readonly plan: 'wait'; readonly until: number }

/**
 * Plans the next sending of an entry. Pure.
 *
 * A command is known to the host by its command ID, and each signing takes a fresh request ID. For a create, steer,
 * cancel or archive the request ID is what the host knows it by: it is kept, and signed again only when the earlier
 * request has expired by any clock that the host could have, since a second event under a live request ID would be
 * refused as a conflict.
 * @param now device time, Unix seconds
 * @param grant the grant that requests are signed under now; null for the owner
 * @param afresh the same event has had its chance: a relay that has it gives it to nobody a second time
 * @see spec/wire.md §6
 */
export function planSend(entry: Undecided, now: number, grant: string | null, afresh = false): SendPlan {
  const { attempt, op } = entry
  if (attempt === null) return { plan: 'sign', request: isKeyed(op) ? entry.id : null }
  // A clock that was set back says nothing about when the request expires.
  const clockWentBack = now < attempt.issued_at - clockSkewSeconds
  const isFresh = now < attempt.expires_at && attempt.grant === grant && !clockWentBack
  if (isFresh && (isKeyed(op) || !afresh)) return { plan: 'resend', attempt }
  if (!isKeyed(op)) return { plan: 'sign', request: null }
  const until = attempt.expires_at + clockSkewSeconds + 1
  return now < until && !clockWentBack ? { plan: 'wait', until } : { plan: 'sign', request: attempt.request }
}

/** Whether the host knows this operation's effect by its request ID. */
export function isKeyed(op: Operation): boolean {
  return op.kind !== 'task.command'
}
