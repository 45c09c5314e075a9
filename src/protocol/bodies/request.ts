import * as z from 'zod'
import { requestSecondsMax } from '../../limits.ts'
import { count, header, lifetime, livesAtMost } from '../fields.ts'
import { hexId, publicKey } from '../keys.ts'
import { type Operation, operationSchema } from '../operations.ts'
import { earns } from '../refusal-issues.ts'

const head = {
  ...header('openagents.host-request.v1'),
  request: hexId,
  host: publicKey,
  grant: hexId.nullable(),
  epoch: count.nullable(),
  relay: z.string(),
  ...lifetime,
}

const namesBothOrNeither = ({ grant, epoch }: { grant: string | null; epoch: number | null }): boolean =>
  (grant === null) === (epoch === null)

/** A request without its operation: what says who asks whom, and when. @see spec/wire.md §7 */
export const requestHeadSchema = z
  .strictObject(head)
  .refine(livesAtMost(requestSecondsMax), earns('malformed', ['expires_at']))
  .refine(namesBothOrNeither, earns('malformed', ['epoch']))
export type RequestHead = z.infer<typeof requestHeadSchema>

/** `openagents.host-request.v1`: a device, or the owner, asks for one operation. @see spec/wire.md §5 */
export const requestSchema = z
  .strictObject({ ...head, op: operationSchema })
  .refine(livesAtMost(requestSecondsMax), earns('malformed', ['expires_at']))
  .refine(namesBothOrNeither, earns('malformed', ['epoch']))
  .refine(({ grant, op }) => grant === null || mayNameGrant(op), earns('malformed', ['grant']))
export type HostRequest = z.infer<typeof requestSchema>

/** A redemption never names a grant. */
function mayNameGrant(op: Operation): boolean {
  return op.kind !== 'enroll.redeem'
}
