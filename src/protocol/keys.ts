import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import * as z from 'zod'
import { liftedKeysMax } from '../limits.ts'
import type { Random } from '../seams/random.ts'
import { fromHex, toHex } from './hex.ts'
import { Refusal } from './refusal.ts'

/** A 64-digit lowercase hex identifier. @see spec/wire.md §1 */
export const hexId = z.string().regex(/^[0-9a-f]{64}$/)

/** A 32-digit lowercase hex identifier, as the thread operations carry it. @see spec/wire.md §6 */
export const shortHexId = z.string().regex(/^[0-9a-f]{32}$/)

/** An x-only public key: 64 lowercase hex that name a point of the curve. @see spec/wire.md §1 */
export const publicKey = hexId.refine(isPublicKey)

/** A digest: `sha256:` and 64 lowercase hex. @see spec/wire.md §1 */
export const digestText = z.string().regex(/^sha256:[0-9a-f]{64}$/)

/** A time in whole Unix seconds. @see spec/wire.md §1 */
export const unixSeconds = z.int().nonnegative()

const lifted = new Set<string>()

/** Whether 64 hex digits are the x of a point of secp256k1. Good answers are remembered, within a bound. */
export function isPublicKey(hex: string): boolean {
  if (lifted.has(hex)) return true
  if (!/^[0-9a-f]{64}$/.test(hex)) return false
  try {
    schnorr.utils.lift_x(BigInt(`0x${hex}`))
  } catch {
    return false
  }
  if (lifted.size >= liftedKeysMax) lifted.clear()
  lifted.add(hex)
  return true
}

/** The public key of a secret key, both 64 lowercase hex. Refuses `malformed` for a scalar out of range. */
export function publicKeyOf(secretHex: string): string {
  return toHex(schnorr.getPublicKey(secretBytes(secretHex)))
}

/** The 32 bytes of a secret key. Refuses `malformed` for a scalar out of range; the message never shows it. */
export function secretBytes(secretHex: string): Uint8Array {
  const bytes = /^[0-9a-f]{64}$/.test(secretHex) ? fromHex(secretHex) : new Uint8Array(0)
  if (!secp256k1.utils.isValidSecretKey(bytes)) throw new Refusal('malformed', 'not a secret key')
  return bytes
}

/** A fresh secret key, 64 lowercase hex. */
export function newSecretKey(random: Random): string {
  let bytes = random.bytes(32)
  while (!secp256k1.utils.isValidSecretKey(bytes)) bytes = random.bytes(32)
  return toHex(bytes)
}
