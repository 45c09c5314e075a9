import { resolve } from 'node:path'
import { grantSecondsMax } from '../limits.ts'
import { parseRights } from '../protocol/rights.ts'
import { nowSeconds } from '../seams/clock.ts'
import { checkNotThere, devicesAnswer, invitationAnswer, revokedAnswer } from './access-answers.ts'
import type { Door } from './door.ts'
import { operatorOf } from './operator.ts'
import type { Answer } from './output.ts'

/** What a person says of an invitation. */
export interface InviteChoices {
  rights?: string | undefined
  grantSeconds?: number | undefined
  qr: boolean
  out?: string | undefined
}

/**
 * Makes an invitation and shows it, as text and as a QR code drawn here, or writes it to a new private file. It is a
 * secret until it is used. Refuses `io` for a file that is there already; no invitation is left then.
 */
export async function invite(
  door: Door,
  options: InviteChoices & { relay?: string | undefined },
): Promise<Answer> {
  const rights = parseRights(options.rights ?? 'standard')
  const grant_expires_at = nowSeconds(door.clock) + (options.grantSeconds ?? grantSecondsMax)
  const out = options.out === undefined ? null : resolve(options.out)
  await checkNotThere(out)
  const operator = operatorOf(door)
  const made = await operator.invite({ rights, grant_expires_at, relay: options.relay ?? null })
  return invitationAnswer(made, { rights, qr: options.qr, out }, (id) => operator.uninvite(id))
}

/** Takes an invitation back. */
export async function cancelInvite(door: Door, invitation: string): Promise<Answer> {
  await operatorOf(door).uninvite(invitation)
  return { json: { invitation, cancelled: true }, text: 'cancelled\n' }
}

/** The devices that hold or held a grant. */
export async function devices(door: Door): Promise<Answer> {
  return devicesAnswer(await operatorOf(door).devices())
}

/** Ends every grant of a device. */
export async function revoke(door: Door, device: string): Promise<Answer> {
  const { publicKeyFromText } = await import('../bridge/public-key-text.ts')
  return revokedAnswer(await operatorOf(door).revoke(publicKeyFromText(device)))
}
