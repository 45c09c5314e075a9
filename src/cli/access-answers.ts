import { renderUnicodeCompact } from 'uqr'
import { Refusal } from '../protocol/refusal.ts'
import { realDisk } from '../store/disk.ts'
import { type Answer, facts, localTime, table } from './output.ts'
import { printable } from './printable.ts'

/** An invitation as it was made, by whoever made it. */
export interface MadeInvitation {
  readonly invitation: string
  readonly code: string
  /** Unix seconds. */
  readonly expires_at: number
}

/**
 * Shows an invitation, as text and as a QR code drawn here, or writes it to a new private file. If the file cannot be
 * written, `takeBack` is called with the invitation's ID.
 */
export async function invitationAnswer(
  made: MadeInvitation,
  options: { rights: readonly string[]; qr: boolean; out: string | null },
  takeBack: (invitation: string) => Promise<void>,
): Promise<Answer> {
  const { invitation, code, expires_at } = made
  const { rights, qr, out } = options
  const detail = facts([
    ['invitation', invitation],
    ['rights', rights.join(', ')],
    ['works until', localTime(expires_at)],
  ])
  if (out !== null) {
    await keepCode(out, made, takeBack)
    const next = `Use it with: drawbridge device redeem ${printable(out)}\n`
    return { json: { invitation, file: out, expires_at }, text: `${detail}${next}` }
  }
  return {
    json: { invitation, code, expires_at },
    text: `${code}\n\n${qr ? `${renderUnicodeCompact(code, { border: 2 })}\n` : ''}${detail}`,
  }
}

/** Refuses `io` when something is at `out` already. */
export async function checkNotThere(out: string | null): Promise<void> {
  if (out !== null && (await realDisk.identity(out)) !== null) throw thereAlready(out)
}

/** Writes the code where nobody else can read it, or takes the invitation back. */
async function keepCode(
  out: string,
  { invitation, code }: MadeInvitation,
  takeBack: (invitation: string) => Promise<void>,
): Promise<void> {
  let kept = false
  try {
    kept = await realDisk.create(out, new TextEncoder().encode(`${code}\n`))
  } finally {
    if (!kept) await takeBack(invitation)
  }
  if (!kept) throw thereAlready(out)
}

/** The refusal for an output file that is there already. */
export function thereAlready(out: string): Refusal {
  return new Refusal('io', `${out} is there already`, { hint: 'Name another file with --out.' })
}

/** The devices that hold or held a grant. */
export function devicesAnswer(
  found: readonly {
    readonly device: string
    readonly state: string
    readonly rights: readonly string[]
    readonly expires_at: number
    readonly last_seen: number | null
  }[],
): Answer {
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

/** What a revocation ended. */
export function revokedAnswer(revoked: {
  readonly device: string
  readonly epoch: number
  readonly grants: readonly string[]
}): Answer {
  const { device, epoch, grants } = revoked
  const text = facts([
    ['device', device],
    ['epoch', String(epoch)],
    ['grants ended', String(grants.length)],
  ])
  return { json: { device, epoch, grants }, text }
}
