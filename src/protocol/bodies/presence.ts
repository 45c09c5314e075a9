import * as z from 'zod'
import { capabilitiesMax } from '../../limits.ts'
import { allDiffer, count, distinct, header } from '../fields.ts'
import { publicKey, unixSeconds } from '../keys.ts'
import { earns } from '../refusal-issues.ts'

const percent = z.int().min(0).max(100)
const slug = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/)

/** `openagents.host-presence.v1`: the host is here, and what it can do. @see spec/wire.md §5 */
export const presenceSchema = z
  .strictObject({
    ...header('openagents.host-presence.v1'),
    host: publicKey,
    owner: publicKey,
    generation: count,
    protocol: z.literal(1),
    compatibility: z
      .strictObject({ min: count, max: count })
      .refine(({ min, max }) => min <= max, earns('malformed', ['min'])),
    capabilities: distinct(slug, capabilitiesMax),
    observed_at: unixSeconds,
    telemetry: z
      .strictObject({
        cpu_count: z.int().positive(),
        cpu_utilization_pct: percent,
        memory_available_pct: percent,
      })
      .nullable(),
  })
  .refine(({ host, owner }) => allDiffer(host, owner), earns('forbidden', ['owner']))
export type Presence = z.infer<typeof presenceSchema>
