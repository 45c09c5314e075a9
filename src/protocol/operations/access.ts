import * as z from 'zod'
import { enrollmentCodeBytesMax } from '../../limits.ts'
import { digestText, hexId, publicKey, unixSeconds } from '../keys.ts'
import { earns } from '../refusal-issues.ts'
import { rightsSchema } from '../rights.ts'
import { isSingleLine } from '../text.ts'

const enrollmentCode = z
  .string()
  .regex(/^\p{ASCII}*$/u)
  .refine((text) => isSingleLine(text, enrollmentCodeBytesMax), earns('bounds'))

/** Operations about who may do what. @see spec/wire.md §6 */
export const accessOperations = [
  z.strictObject({ kind: z.literal('enroll.redeem'), invitation: hexId, capability: hexId }),
  z.strictObject({
    kind: z.literal('enroll.approve'),
    enrollment: hexId,
    request_digest: digestText,
    code: enrollmentCode,
    device: publicKey,
    rights: rightsSchema,
    grant_expires_at: unixSeconds,
  }),
  z.strictObject({ kind: z.literal('enroll.deny'), enrollment: hexId, request_digest: digestText }),
  z.strictObject({ kind: z.literal('invite.create'), rights: rightsSchema, grant_expires_at: unixSeconds }),
  z.strictObject({ kind: z.literal('invite.cancel'), invitation: hexId }),
  z.strictObject({ kind: z.literal('device.list') }),
  z.strictObject({ kind: z.literal('device.revoke'), device: publicKey }),
  z.strictObject({ kind: z.literal('workspace.list') }),
] as const
