import { resolve } from 'node:path'
import { publicKeyFromText } from '../../bridge/public-key-text.ts'
import type { Device } from '../../device/device.ts'
import { clockSkewSeconds, grantSecondsMax } from '../../limits.ts'
import type { Operation } from '../../protocol/operations.ts'
import type { Outcome, OutcomeKind } from '../../protocol/outcomes.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { parseRights } from '../../protocol/rights.ts'
import { nowSeconds } from '../../seams/clock.ts'
import type { InviteChoices } from '../access.ts'
import { checkNotThere, devicesAnswer, invitationAnswer, revokedAnswer } from '../access-answers.ts'
import type { Door } from '../door.ts'
import type { Answer } from '../output.ts'
import { hinted } from './hints.ts'
import { type DeviceChoices, withDevice } from './open.ts'

/** The devices of a host, as a device with `access_read` or the owner sees them. */
export async function devices(door: Door, choices: DeviceChoices): Promise<Answer> {
  const look = (device: Device) => askFor(device, { kind: 'device.list' }, 'devices')
  return devicesAnswer((await hinted('access', undefined, () => withDevice(door, choices, look))).devices)
}

/** Ends every grant of a device, as a device with `access_admin` or the owner. */
export async function revoke(door: Door, choices: DeviceChoices & { device: string }): Promise<Answer> {
  const op = { kind: 'device.revoke' as const, device: publicKeyFromText(choices.device) }
  const revoked = () => withDevice(door, choices, (device) => askFor(device, op, 'revoked'))
  return revokedAnswer(await hinted('access', undefined, revoked))
}

/** Makes an invitation over the relay, as a device with `access_admin` or the owner. Its code is a live secret. */
export async function invite(door: Door, choices: DeviceChoices & InviteChoices): Promise<Answer> {
  const rights = parseRights(choices.rights ?? 'standard')
  const out = choices.out === undefined ? null : resolve(choices.out)
  await checkNotThere(out)
  const made = async (device: Device) => {
    const grant_expires_at = await grantExpiry(door, device, choices.grantSeconds)
    const op = { kind: 'invite.create' as const, rights, grant_expires_at }
    const invitation = await askFor(device, op, 'invitation')
    const takeBack = async (id: string): Promise<void> => {
      await askFor(device, { kind: 'invite.cancel', invitation: id }, 'cancelled')
    }
    return invitationAnswer(invitation, { rights, qr: choices.qr, out }, takeBack)
  }
  return hinted('access', undefined, () => withDevice(door, choices, made))
}

/** Takes an invitation back, as whoever may. */
export async function cancelInvite(door: Door, invitation: string, choices: DeviceChoices): Promise<Answer> {
  const op = { kind: 'invite.cancel' as const, invitation }
  await hinted('access', undefined, () =>
    withDevice(door, choices, (device) => askFor(device, op, 'cancelled')),
  )
  return { json: { invitation, cancelled: true }, text: 'cancelled\n' }
}

/** The labels of the workspaces that a host serves. */
export async function workspaces(door: Door, choices: DeviceChoices): Promise<Answer> {
  const labels = await withDevice(door, choices, (device) => device.workspaces())
  return { json: { workspaces: labels }, text: labels.map((label) => `${label}\n`).join('') }
}

/**
 * When a grant ends that this one gives, Unix seconds: as asked, else as late as can be. A host whose clock is a
 * little behind should not find it too late, and nobody gives more time than they have.
 */
export async function grantExpiry(door: Door, device: Device, seconds: number | undefined): Promise<number> {
  const now = nowSeconds(door.clock)
  if (seconds !== undefined) return now + seconds
  const own = (await device.whoami()).paired?.expires_at ?? Number.POSITIVE_INFINITY
  return Math.min(now + grantSecondsMax - clockSkewSeconds, own)
}

/** Asks once for an outcome of one kind; a reply of another is `malformed`. */
export async function askFor<K extends OutcomeKind>(
  device: Device,
  op: Operation,
  kind: K,
): Promise<Extract<Outcome, { kind: K }>> {
  const outcome = await device.ask(op)
  if (isOutcome(outcome, kind)) return outcome
  throw new Refusal('malformed', 'the host answered something else')
}

function isOutcome<K extends OutcomeKind>(
  outcome: Outcome,
  kind: K,
): outcome is Extract<Outcome, { kind: K }> {
  return outcome.kind === kind
}
