import * as z from 'zod'
import { nudgeSeconds } from '../../limits.ts'
import { allDiffer, header, lifetime } from '../fields.ts'
import { publicKey } from '../keys.ts'
import { earns } from '../refusal-issues.ts'

/** `openagents.host-nudge.v1`: a device asks a host to show itself. @see spec/wire.md §5 */
export const nudgeSchema = z
  .strictObject({
    ...header('openagents.host-nudge.v1'),
    host: publicKey,
    device: publicKey,
    ...lifetime,
  })
  .refine(
    ({ issued_at, expires_at }) => expires_at - issued_at === nudgeSeconds,
    earns('malformed', ['expires_at']),
  )
  .refine(({ host, device }) => allDiffer(host, device), earns('forbidden', ['device']))
export type Nudge = z.infer<typeof nudgeSchema>
