import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { invitationRelayBytesMax, invitationSeconds, invitationStringBytesMax } from '../limits.ts'
import { fromBase64Url, toBase64Url } from './base64.ts'
import { fromHex, toHex } from './hex.ts'
import { isPublicKey } from './keys.ts'
import { Refusal } from './refusal.ts'
import { checkRelayUrl, type RelayPolicy } from './relay-url.ts'

/** What an invitation string says. Identifiers, keys and the capability are 64 hex; times are Unix seconds. */
export interface Invitation {
  readonly host: string
  readonly invitation: string
  readonly capability: string
  readonly issued_at: number
  readonly expires_at: number
  readonly relay: string
}

const prefix = 'coder-host:'
const version = 1
const headBytes = 1 + 3 * 32 + 2 * 8 + 2

/**
 * Reads an invitation string. Refuses `malformed` for anything but the exact encoding of a 300-second invitation of
 * a real host key, and `forbidden` for a relay that the policy does not admit. No message carries the string.
 * @see spec/wire.md §4
 */
export function parseInvitation(code: string, policy: RelayPolicy): Invitation {
  if (code.length > invitationStringBytesMax || !code.startsWith(prefix)) throw unreadable()
  const bytes = fromBase64Url(code.slice(prefix.length))
  if (bytes.length <= headBytes || bytes[0] !== version) throw unreadable()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const id = (index: number): string => toHex(bytes.subarray(1 + 32 * index, 33 + 32 * index))
  const relay = bytes.subarray(headBytes)
  if (view.getUint16(113) !== relay.length) throw unreadable()
  const read: Invitation = {
    host: id(0),
    invitation: id(1),
    capability: id(2),
    issued_at: Number(view.getBigUint64(97)),
    expires_at: Number(view.getBigUint64(105)),
    relay: ascii(relay),
  }
  checkInvitation(read)
  checkRelayUrl(read.relay, policy, invitationRelayBytesMax)
  return read
}

/**
 * The string of an invitation. It holds the capability: show it, never log it. Refuses `malformed` for values that
 * no invitation can have.
 * @see spec/wire.md §4
 */
export function encodeInvitation(invitation: Invitation): string {
  checkInvitation(invitation)
  const relay = utf8ToBytes(invitation.relay)
  const numbers = new DataView(new ArrayBuffer(18))
  numbers.setBigUint64(0, BigInt(invitation.issued_at))
  numbers.setBigUint64(8, BigInt(invitation.expires_at))
  numbers.setUint16(16, relay.length)
  const keys = [invitation.host, invitation.invitation, invitation.capability].map(fromHex)
  return (
    prefix +
    toBase64Url(concatBytes(new Uint8Array([version]), ...keys, new Uint8Array(numbers.buffer), relay))
  )
}

function checkInvitation({ host, invitation, capability, issued_at, expires_at, relay }: Invitation): void {
  const ids = [invitation, capability].every((id) => /^[0-9a-f]{64}$/.test(id))
  const times = Number.isSafeInteger(issued_at) && issued_at >= 0 && Number.isSafeInteger(expires_at)
  if (!ids || !isPublicKey(host) || !times || expires_at !== issued_at + invitationSeconds) throw unreadable()
  if (relay.length === 0 || utf8ToBytes(relay).length > invitationRelayBytesMax) throw unreadable()
}

/** Relay bytes outside ASCII cannot pass the relay policy; they are kept apart so that it refuses them. */
function ascii(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : '\ufffd')).join('')
}

function unreadable(): Refusal {
  return new Refusal('malformed', 'not an invitation', { field: 'invitation' })
}
