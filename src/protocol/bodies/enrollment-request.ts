import * as z from 'zod'
import { enrollmentSecondsMax } from '../../limits.ts'
import { allDiffer, header, lifetime, livesAtMost } from '../fields.ts'
import { hexId, publicKey } from '../keys.ts'
import { earns } from '../refusal-issues.ts'
import { rightsSchema } from '../rights.ts'

/** `openagents.host-enrollment-request.v1`: a host asks to be approved by its owner. @see spec/wire.md §5 */
export const enrollmentRequestSchema = z
  .strictObject({
    ...header('openagents.host-enrollment-request.v1'),
    enrollment: hexId,
    host: publicKey,
    owner: publicKey,
    relay: z.string(),
    rights: rightsSchema,
    ...lifetime,
  })
  .refine(livesAtMost(enrollmentSecondsMax), earns('malformed', ['expires_at']))
  .refine(({ host, owner }) => allDiffer(host, owner), earns('forbidden', ['owner']))
export type EnrollmentRequest = z.infer<typeof enrollmentRequestSchema>
