import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { toHex } from './hex.ts'

/** SHA-256 of bytes, or of the UTF-8 of a text, as lowercase hex without a prefix. */
export function sha256Hex(input: Uint8Array | string): string {
  return toHex(sha256(typeof input === 'string' ? utf8ToBytes(input) : input))
}

/** The same with its `sha256:` prefix: a digest as bodies carry it. @see spec/wire.md §1 */
export function sha256Digest(input: Uint8Array | string): `sha256:${string}` {
  return `sha256:${sha256Hex(input)}`
}
