import * as z from 'zod'
import { eventSchema } from '../event.ts'
import { header } from '../fields.ts'
import { grantSchema } from './grant.ts'

/**
 * `openagents.host-access.v1`: what a device keeps of its access, the grant and the event by which the host gave it.
 * @see spec/wire.md §5
 */
export const accessSchema = z.strictObject({
  ...header('openagents.host-access.v1'),
  grant: grantSchema,
  authorization: eventSchema,
})
export type Access = z.infer<typeof accessSchema>
