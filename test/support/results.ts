import type { Result } from '../../src/protocol/bodies/reply.ts'
import type { Outcome, OutcomeKind } from '../../src/protocol/outcomes.ts'

/** The outcome of a result, of the kind that is expected. */
export function outcome<K extends OutcomeKind>(result: Result, kind: K): Extract<Outcome, { kind: K }> {
  if (result.status !== 'ok' || result.outcome.kind !== kind) {
    throw new Error(`not ${kind}: ${JSON.stringify(result)}`)
  }
  return result.outcome as Extract<Outcome, { kind: K }>
}

/** A refusal as one text: its code and, when one is missing, the right. */
export function refusal(result: Result): string {
  if (result.status === 'ok') throw new Error(`not refused: ${JSON.stringify(result)}`)
  return result.missing === null ? result.code : `${result.code} ${result.missing}`
}
