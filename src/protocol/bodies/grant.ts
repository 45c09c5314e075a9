import * as z from 'zod'
import { grantSecondsMax } from '../../limits.ts'
import { allDiffer, count, header, lifetime, livesAtMost } from '../fields.ts'
import { hexId, publicKey } from '../keys.ts'
import { earns } from '../refusal-issues.ts'
import { rightsSchema } from '../rights.ts'

/** How a grant came about: which invitation or enrollment, and whose it was. */
const originSchema = z.strictObject({
  kind: z.enum(['invitation', 'approval']),
  id: hexId,
  issuer: publicKey,
})

/** `openagents.host-grant.v1`: what a host lets one device do. @see spec/wire.md §5 */
export const grantSchema = z
  .strictObject({
    ...header('openagents.host-grant.v1'),
    grant: hexId,
    host: publicKey,
    owner: publicKey,
    device: publicKey,
    relay: z.string(),
    rights: rightsSchema,
    epoch: count,
    origin: originSchema,
    ...lifetime,
  })
  .refine(livesAtMost(grantSecondsMax), earns('malformed', ['expires_at']))
  .refine(({ host, owner }) => allDiffer(host, owner), earns('forbidden', ['owner']))
  .refine(({ host, owner, device }) => device !== host && device !== owner, earns('forbidden', ['device']))
export type Grant = z.infer<typeof grantSchema>
