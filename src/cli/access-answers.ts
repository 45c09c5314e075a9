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

/** A grant in the list of devices. Times are Unix seconds. */
interface ListedGrant {
  readonly device: string
  readonly state: string
  readonly rights: readonly string[]
  readonly origin: string
  readonly issued_at: number
  readonly expires_at: number
  readonly last_seen: number | null
}

/** The grants of the devices, a line each. One that goes on beside its renewal is called so. */
export function devicesAnswer(found: readonly ListedGrant[]): Answer {
  if (found.length === 0) return { json: { devices: found }, text: 'no devices\n' }
  const rows = found.map((entry) => [
    entry.device,
    isRenewed(entry, found) ? 'renewed' : entry.state,
    entry.rights.join(','),
    entry.origin,
    localTime(entry.expires_at),
    entry.last_seen === null ? 'never' : localTime(entry.last_seen),
  ])
  const heads = ['device', 'state', 'rights', 'by', 'until', 'last seen']
  return { json: { devices: found }, text: table(heads, rows) }
}

/** A device has two active grants only while the newer one renews the older. */
function isRenewed(entry: ListedGrant, all: readonly ListedGrant[]): boolean {
  const isNewer = (other: ListedGrant) =>
    other.device === entry.device && other.state === 'active' && other.issued_at > entry.issued_at
  return entry.state === 'active' && all.some(isNewer)
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
