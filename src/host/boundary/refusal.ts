import { Refusal } from '../../protocol/refusal.ts'

/** Why there is no boundary. The first four are about paths; the last three about the machine. */
export type BoundaryProblem =
  | 'relative'
  | 'resolve'
  | 'unsafe'
  | 'overlap'
  | 'unsupported'
  | 'unavailable'
  | 'inoperable'

/** A refusal `io` whose field names the problem as `boundary.PROBLEM`. */
export function boundaryRefusal(problem: BoundaryProblem, message: string, hint?: string): Refusal {
  const field = `boundary.${problem}`
  return new Refusal('io', message, hint === undefined ? { field } : { field, hint })
}
