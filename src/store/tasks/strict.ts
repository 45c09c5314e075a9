import type { JsonValue } from '../../protocol/json-value.ts'
import { isRefusal, Refusal, type RefusalCode } from '../../protocol/refusal.ts'
import { parseStrictJson } from '../../protocol/strict-json.ts'

/**
 * Strict JSON as the store reads it: integers written as fractions or with exponents refuse too.
 * @param what names the bytes in a refusal
 * @param code what any fault earns
 * @see spec/store.md §1
 */
export function readStrict(bytes: Uint8Array, bytesMax: number, what: string, code: RefusalCode): JsonValue {
  try {
    const { value, looseIntegers } = parseStrictJson(bytes, { bytesMax })
    if (looseIntegers.length === 0) return value
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw new Refusal(code, `${what}: ${error.message}`, { cause: error })
  }
  throw new Refusal(code, `${what}: an integer is written as a fraction or with an exponent`)
}
