import * as z from 'zod'
import { contextSchema } from './context.ts'
import { executionGrantSchema } from './grant.ts'
import { intentSchema } from './intent.ts'
import { checkStates, executionStates, taskStatuses } from './words.ts'

const count = z.int().nonnegative()
const revision = z.int().positive()
const nullableText = z.string().nullable().default(null)

/** What was verified before a run began. @see spec/execution.md §2 */
export const admissionSchema = z.strictObject({
  grant: executionGrantSchema,
  grant_digest: z.string(),
  grant_request: z.string(),
  workspace: z.string(),
  source_revision: z.string(),
  source_snapshot: z.string(),
  program_digest: z.string(),
  adapter: z.string(),
  network: z.string(),
  read_scope: z.string(),
  authority: z.string(),
  trace_file: z.string(),
  context: contextSchema,
})
export type Admission = z.infer<typeof admissionSchema>

/** How a run ended. @see spec/execution.md §2 */
export const runResultSchema = z.strictObject({
  ending: z.string().min(1),
  exit_code: z.int().nullable().default(null),
  stop_requested: z.boolean(),
  group_clear: z.boolean(),
  elapsed_ms: count,
  trace_digest: z.string(),
  candidate_snapshot: nullableText,
  artifact_file: nullableText,
  artifact_digest: nullableText,
  output_incomplete: z.boolean(),
  cost_status: z.enum(['unknown', 'partial', 'priced']),
  cost_microusd: count.exactOptional(),
  engine_microusd: count.exactOptional(),
  jev_microusd: count.exactOptional(),
})
export type RunResult = z.infer<typeof runResultSchema>

/** What an independent check said. @see spec/checks.md §5 */
export const checkReportSchema = z.strictObject({
  schema: z.literal('openagents.coder.task-checks.v1'),
  requirements_digest: z.string(),
  context_digest: z.string(),
  candidate_snapshot: nullableText,
  verdict: z.enum(['passed', 'failed', 'unavailable', 'disputed']),
  evidence: z.json().default(null),
  reason: nullableText,
})

/** The record of one turn's execution. */
export const runSchema = z.strictObject({
  epoch: revision,
  admission: admissionSchema,
  effect_id: nullableText,
  result: runResultSchema.nullable().default(null),
  process_id: z.int().positive().nullable().default(null),
  recovery_reason: nullableText,
  check_report: checkReportSchema.nullable().default(null),
})
export type Run = z.infer<typeof runSchema>

export const correctionSchema = z.strictObject({ revision, prompt: z.string(), reason: z.string() })
export type Correction = z.infer<typeof correctionSchema>

export const followUpSchema = z.strictObject({ revision, prompt: z.string() })

/** The durable unit of work, as it is stored and shown: keys in this order, the last four only when set. */
export const taskSchema = z.strictObject({
  task_id: z.string(),
  revision,
  intent: intentSchema,
  intent_digest: z.string(),
  status: z.enum(taskStatuses),
  execution: z.enum(executionStates),
  checks: z.enum(checkStates),
  cancellation_reason: nullableText,
  corrections: z.array(correctionSchema).min(1).exactOptional(),
  run: runSchema.exactOptional(),
  follow_ups: z.array(followUpSchema).min(1).exactOptional(),
  earlier: z.array(runSchema).min(1).exactOptional(),
})
export type Task = z.infer<typeof taskSchema>

/** What an accepted command is answered with, then and for ever. @see spec/store.md §4 */
export const receiptSchema = z.strictObject({
  schema: z.literal('openagents.coder.task-receipt.v1'),
  command_id: z.string(),
  task_id: z.string(),
  request_digest: z.string(),
  sequence: revision,
  revision,
  status: z.enum(taskStatuses),
  execution: z.enum(executionStates),
  checks: z.enum(checkStates),
})
export type Receipt = z.infer<typeof receiptSchema>
