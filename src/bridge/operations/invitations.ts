import { sha256Hex } from '../../protocol/digest.ts'
import type { Right } from '../../protocol/rights.ts'
import { cancelInvitation, createInvitation } from '../access/invitations.ts'
import { type Principal, requireStanding } from '../access/principal.ts'
import type { AccessContext, Asking } from './context.ts'

export interface MadeInvitation {
  readonly invitation: string
  /** The string that holds the capability: shown once, never logged. */
  readonly code: string
  readonly expires_at: number
}

/**
 * Stores an invitation and only then gives its string.
 *
 * Refuses `missing_right`, `forbidden` and `bounds` as `createInvitation` does, and as `requireStanding` does.
 * @param relay where the invited device is to redeem it
 * @see spec/wire.md §4
 */
export async function invite(
  context: AccessContext,
  by: Principal,
  terms: { rights: Right[]; grant_expires_at: number; relay: string },
  id?: string,
): Promise<MadeInvitation> {
  return await context.book.change((record, now) => {
    requireStanding(record, by, now)
    const made = createInvitation(record, by, terms, now, context.random, id)
    const { invitation, code, expires_at } = made
    return { record: made.record, value: { invitation, code, expires_at } }
  })
}

/** The ID of the invitation that a request makes: the same when the request is acted on again. */
export function invitationIdOf(asking: Asking): string {
  return sha256Hex(`drawbridge.invitation.v1\0${asking.signer}:${asking.request}`)
}

/**
 * Cancels an invitation. Refuses `forbidden` for an unknown one, `conflict` for a redeemed one, and as
 * `requireStanding` does.
 */
export async function uninvite(context: AccessContext, by: Principal, invitation: string): Promise<void> {
  await context.book.change((record, now) => {
    requireStanding(record, by, now)
    return { record: cancelInvitation(record, invitation, now), value: undefined }
  })
}
