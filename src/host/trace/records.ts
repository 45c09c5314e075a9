import * as z from 'zod'

/** The version that our own traces declare. */
export const traceVersion = 'ATIF-v1.8'

/** Versions that the reader takes; a session that declares none is taken too. */
export const traceVersions: readonly string[] = Array.from({ length: 9 }, (_, minor) => `ATIF-v1.${minor}`)

/** The latest moment that a date can show, in milliseconds. */
const dateMsMax = 8_640_000_000_000_000
const moment = z.number().int().min(0).max(dateMsMax)
const milliseconds = z.number().int().min(0)

export const traceSessionSchema = z.object({
  id: z.string(),
  model: z.string(),
  door: z.string(),
  repository: z.string(),
  directive: z.string().default(''),
  state: z.string().default(''),
  seconds: z.number().int().min(0).default(0),
  version: z.string(),
})
/** Who ran, where, and by which door. */
export type TraceSession = z.infer<typeof traceSessionSchema>

const traceCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.unknown(),
  output: z.string(),
  outcome: z.enum(['Completed', 'Failed', 'Cancelled']),
  milliseconds,
  purpose: z.string().optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
})

export const traceStepSchema = z.object({
  at: moment,
  source: z.enum(['System', 'User', 'Agent']),
  message: z.string(),
  reasoning: z.string().optional(),
  model: z.string().optional(),
  call: traceCallSchema.optional(),
  tokens: z.tuple([z.number().int().min(0), z.number().int().min(0)]).optional(),
  milliseconds: milliseconds.optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
})
/** One thing that happened in a turn; `at` is Unix milliseconds of the host. */
export type TraceStep = z.infer<typeof traceStepSchema>

export const traceMomentSchema = moment
