import * as z from 'zod'
import { admissionSchema, checkReportSchema, runResultSchema } from './task.ts'

/** What the host records of a run, in addition to what commands ask. @see spec/execution.md §3 */
export const hostEventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('admitted'), admission: admissionSchema }),
  z.strictObject({ type: z.literal('effect_intent'), effect_id: z.string() }),
  z.strictObject({ type: z.literal('spawned'), process_id: z.int() }),
  z.strictObject({ type: z.literal('result'), result: runResultSchema }),
  z.strictObject({ type: z.literal('owner_lost') }),
  z.strictObject({ type: z.literal('check_intent') }),
  z.strictObject({ type: z.literal('checked'), report: checkReportSchema }),
  z.strictObject({ type: z.literal('check_owner_lost') }),
])
export type HostEvent = z.infer<typeof hostEventSchema>
