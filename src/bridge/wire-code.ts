import { isRefusal, type RefusalCode, type WireCode, wireCodes } from '../protocol/refusal.ts'
import type { Right } from '../protocol/rights.ts'
import { rights } from '../protocol/rights.ts'

/** What a failed operation is called on the wire. */
export interface WireRefusal {
  readonly code: WireCode
  /** With `missing_right` only. */
  readonly missing: Right | null
}

const storeToWire: ReadonlyMap<RefusalCode, WireCode> = new Map<RefusalCode, WireCode>([
  ['revision_mismatch', 'stale'],
  ['invalid_transition', 'conflict'],
  ['command_conflict', 'conflict'],
  ['workspace_busy', 'conflict'],
  ['not_found', 'forbidden'],
  ['limit_exceeded', 'bounds'],
])

/**
 * The wire's word for a refusal: its own codes as they are, the store's as the page says, the rest `unavailable`.
 * @see spec/wire.md §6
 */
export function wireRefusalOf(error: unknown): WireRefusal {
  if (!isRefusal(error)) return { code: 'unavailable', missing: null }
  if (error.code === 'missing_right') {
    const missing = rights.find((right) => right === error.missing) ?? null
    return missing === null ? { code: 'forbidden', missing } : { code: 'missing_right', missing }
  }
  const own = wireCodes.find((code) => code === error.code)
  return { code: own ?? storeToWire.get(error.code) ?? 'unavailable', missing: null }
}
