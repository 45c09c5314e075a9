import * as z from 'zod'
import { clockSkewSeconds, requestSecondsMax } from '../../limits.ts'
import { header, lifetime, livesAtMost } from '../fields.ts'
import { hexId, publicKey } from '../keys.ts'
import { outcomeSchema } from '../outcomes.ts'
import { wireCodes } from '../refusal.ts'
import { earns } from '../refusal-issues.ts'
import { rightSchema } from '../rights.ts'

/** How a request came out: an outcome, or a refusal that names the right if one is missing. */
const resultSchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('ok'), outcome: outcomeSchema }),
  z
    .strictObject({ status: z.literal('refused'), code: z.enum(wireCodes), missing: rightSchema.nullable() })
    .refine(
      ({ code, missing }) => (code === 'missing_right') === (missing !== null),
      earns('malformed', ['missing']),
    ),
])
export type Result = z.infer<typeof resultSchema>

/**
 * `openagents.host-reply.v1`: the host's signed answer. It may be dated up to the allowed skew before its request,
 * whose expiry it shares, and so can live that much longer than a request.
 * @see spec/wire.md §5, §7
 */
export const replySchema = z
  .strictObject({
    ...header('openagents.host-reply.v1'),
    request: hexId,
    request_event: hexId,
    host: publicKey,
    ...lifetime,
    result: resultSchema,
  })
  .refine(livesAtMost(requestSecondsMax + clockSkewSeconds), earns('malformed', ['expires_at']))
export type HostReply = z.infer<typeof replySchema>
