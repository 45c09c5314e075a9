import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { Refusal } from './refusal.ts'

/** Lowercase hex of `bytes`. */
export function toHex(bytes: Uint8Array): string {
  return bytesToHex(bytes)
}

/** The bytes that lowercase hex names. Refuses `malformed` for anything else. */
export function fromHex(text: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) throw new Refusal('malformed', 'not lowercase hex')
  return hexToBytes(text)
}
