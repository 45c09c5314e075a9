import type { Random } from '../seams/random.ts'
import type { EnrollmentRequest } from './bodies/enrollment-request.ts'
import { sha256Digest } from './digest.ts'
import { jcs } from './jcs.ts'

/** Crockford's base32: no I, L, O or U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * A fresh enrollment code of 40 random bits: eight characters, shown as two groups of four.
 * @see spec/wire.md §7
 */
export function newEnrollmentCode(random: Random): string {
  const bits = random.bytes(5).reduce((all, byte) => (all << 8n) | BigInt(byte), 0n)
  const code = Array.from(
    { length: 8 },
    (_, place) => alphabet[Number((bits >> BigInt(35 - 5 * place)) & 31n)],
  )
  return `${code.slice(0, 4).join('')}-${code.slice(4).join('')}`
}

/**
 * A code as a person typed it, in the form that is compared: capitals, without dashes and spaces, O as 0, I and L
 * as 1. What no code can be stays what it is, and then is simply wrong.
 * @see spec/wire.md §7
 */
export function normalizedEnrollmentCode(typed: string): string {
  const capitals = typed.replace(/[a-z]/g, (letter) => letter.toUpperCase())
  return capitals.replace(/[- ]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
}

/** Whether a typed text is a code at all: eight characters of the alphabet once it is normalised. */
export function isEnrollmentCode(typed: string): boolean {
  const code = normalizedEnrollmentCode(typed)
  return code.length === 8 && [...code].every((character) => alphabet.includes(character))
}

/**
 * What a host keeps of a code: never the code itself.
 * @param enrollment its ID, 64 hex
 * @see spec/wire.md §7
 */
export function enrollmentCodeDigest(enrollment: string, typed: string): string {
  return sha256Digest(`openagents.host-enrollment-code.v1:${enrollment}:${normalizedEnrollmentCode(typed)}`)
}

/**
 * The `request_digest` by which an approval or a denial names an enrollment request: that of its canonical bytes,
 * and so the artifact digest of every sealed copy of it.
 * @see spec/wire.md §6
 */
export function enrollmentDigest(request: EnrollmentRequest): string {
  return sha256Digest(jcs(request))
}
