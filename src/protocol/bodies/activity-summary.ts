import * as z from 'zod'
import { headlineBytesMax, summaryBytesMax } from '../../limits.ts'
import { count, header, singleLine } from '../fields.ts'
import { jcs } from '../jcs.ts'
import { hexId, publicKey, unixSeconds } from '../keys.ts'
import { earns } from '../refusal-issues.ts'
import { utf8Bytes } from '../text.ts'

/** Where a task stands, for a device. @see spec/wire.md §5 */
const phases = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'unknown'] as const
export type Phase = (typeof phases)[number]
export const phaseSchema = z.enum(phases)

/** What a task wants of a person. @see spec/wire.md §5 */
const attentions = ['none', 'approval', 'input', 'completed', 'failed'] as const
export type Attention = (typeof attentions)[number]
export const attentionSchema = z.enum(attentions)

/** The headline that a failed task has, and no other. */
export const failedHeadline = 'Task failed'

/** `openagents.activity-summary.v1`: one line about a task. @see spec/wire.md §5 */
export const activitySummarySchema = z
  .strictObject({
    ...header('openagents.activity-summary.v1'),
    host: publicKey,
    subject: z.strictObject({ kind: z.literal('task'), id: hexId }),
    sequence: count,
    phase: phaseSchema,
    headline: singleLine(headlineBytesMax),
    attention: attentionSchema,
    updated_at: unixSeconds,
  })
  .refine(attentionFits, earns('malformed', ['attention']))
  .refine(
    ({ phase, headline }) => phase !== 'failed' || headline === failedHeadline,
    earns('malformed', ['headline']),
  )
  .refine((body) => utf8Bytes(jcs(body)) <= summaryBytesMax, earns('bounds'))
export type ActivitySummary = z.infer<typeof activitySummarySchema>

/** Whether an attention can go with a phase. */
function attentionFits({ phase, attention }: { phase: Phase; attention: Attention }): boolean {
  if (phase === 'failed' || attention === 'failed') return phase === attention
  if (attention === 'approval' || attention === 'input') return phase === 'waiting'
  return attention !== 'completed' || phase === 'completed'
}
