import type { Operation } from '../protocol/operations.ts'
import type { Outcome, OutcomeKind } from '../protocol/outcomes.ts'
import { Refusal } from '../protocol/refusal.ts'
import { randomId } from '../seams/random.ts'
import type { DeviceOptions } from './device.ts'
import type { Pairing } from './pairing.ts'

/** An open device: what its verbs work with. */
export interface DeviceState {
  readonly options: DeviceOptions
  readonly pairing: Pairing
  /** How long one call may wait for the host, in milliseconds. */
  readonly waitMs: number
}

/**
 * Asks once and waits at most `waitMs` milliseconds. Throws the host's code, or `timeout` with the reason that the
 * device can see.
 */
export async function ask(
  state: DeviceState,
  op: Operation,
  waitMs: number = state.waitMs,
): Promise<Outcome> {
  const { clock, random } = state.options
  const { asker, exchange } = state.pairing.paired()
  const sign = () => asker.sign(op, randomId(random))
  const answer = await exchange.ask(sign, clock.nowMs() + waitMs)
  if (answer.heard === 'silence') throw new Refusal('timeout', answer.why)
  if (answer.result.status === 'ok') return answer.result.outcome
  const { code, missing } = answer.result
  if (missing === null) throw new Refusal(code, 'the host refused it')
  throw new Refusal(code, `the host refused it: this device has no right to ${missing}`, { missing })
}

/** The same, for an answer of one kind; another one is `malformed`. */
export async function askFor<K extends OutcomeKind>(
  state: DeviceState,
  op: Operation,
  kind: K,
  waitMs: number = state.waitMs,
): Promise<Extract<Outcome, { kind: K }>> {
  const outcome = await ask(state, op, waitMs)
  if (!isOutcome(outcome, kind)) throw new Refusal('malformed', 'the host answered something else')
  return outcome
}

function isOutcome<K extends OutcomeKind>(
  outcome: Outcome,
  kind: K,
): outcome is Extract<Outcome, { kind: K }> {
  return outcome.kind === kind
}
