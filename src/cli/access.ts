import { resolve } from 'node:path'
import { renderUnicodeCompact } from 'uqr'
import { grantSecondsMax } from '../limits.ts'
import { Refusal } from '../protocol/refusal.ts'
import { parseRights } from '../protocol/rights.ts'
import { nowSeconds } from '../seams/clock.ts'
import { realDisk } from '../store/disk.ts'
import type { Door } from './door.ts'
import { operatorOf } from './operator.ts'
import { type Answer, facts, localTime, table } from './output.ts'
import { printable } from './printable.ts'

/**
 * Makes an invitation and shows it, as text and as a QR code drawn here, or writes it to a new private file. It is a
 * secret until it is used. Refuses `io` for a file that is there already; no invitation is left then.
 */
export async function invite(
  door: Door,
  options: {
    rights?: string | undefined
    grantSeconds?: number | undefined
    relay?: string | undefined
    qr: boolean
    out?: string | undefined
  },
): Promise<Answer> {
  const terms = {
    rights: parseRights(options.rights ?? 'standard'),
    grant_expires_at: nowSeconds(door.clock) + (options.grantSeconds ?? grantSecondsMax),
    relay: options.relay ?? null,
  }
  const out = options.out === undefined ? null : resolve(options.out)
  if (out !== null && (await realDisk.identity(out)) !== null) throw thereAlready(out)
  const made = await operatorOf(door).invite(terms)
  const { invitation, code, expires_at } = made
  const detail = facts([
    ['invitation', invitation],
    ['rights', terms.rights.join(', ')],
    ['works until', localTime(expires_at)],
  ])
  if (out !== null) {
    await keepCode(door, out, made)
    const next = `Use it with: drawbridge device redeem ${printable(out)}\n`
    return { json: { invitation, file: out, expires_at }, text: `${detail}${next}` }
  }
  return {
    json: { invitation, code, expires_at },
    text: `${code}\n\n${options.qr ? `${renderUnicodeCompact(code, { border: 2 })}\n` : ''}${detail}`,
  }
}

/** Writes the code where nobody else can read it, or takes the invitation back. */
async function keepCode(
  door: Door,
  out: string,
  { invitation, code }: { invitation: string; code: string },
): Promise<void> {
  let kept = false
  try {
    kept = await realDisk.create(out, new TextEncoder().encode(`${code}\n`))
  } finally {
    if (!kept) await operatorOf(door).uninvite(invitation)
  }
  if (!kept) throw thereAlready(out)
}

function thereAlready(out: string): Refusal {
  return new Refusal('io', `${out} is there already`, { hint: 'Name another file with --out.' })
}

/** Takes an invitation back. */
export async function cancelInvite(door: Door, invitation: string): Promise<Answer> {
  await operatorOf(door).uninvite(invitation)
  return { json: { invitation, cancelled: true }, text: 'cancelled\n' }
}

/** The devices that hold or held a grant. */
export async function devices(door: Door): Promise<Answer> {
  const found = await operatorOf(door).devices()
  if (found.length === 0) return { json: { devices: found }, text: 'no devices\n' }
  const rows = found.map((entry) => [
    entry.device,
    entry.state,
    entry.rights.join(','),
    localTime(entry.expires_at),
    entry.last_seen === null ? 'never' : localTime(entry.last_seen),
  ])
  return { json: { devices: found }, text: table(['device', 'state', 'rights', 'until', 'last seen'], rows) }
}

/** Ends every grant of a device. */
export async function revoke(door: Door, device: string): Promise<Answer> {
  const { publicKeyFromText } = await import('../bridge/public-key-text.ts')
  const key = publicKeyFromText(device)
  const revoked = await operatorOf(door).revoke(key)
  const text = facts([
    ['device', revoked.device],
    ['epoch', String(revoked.epoch)],
    ['grants ended', String(revoked.grants.length)],
  ])
  return { json: revoked, text }
}
