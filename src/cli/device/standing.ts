import type { Sent } from '../../device/device.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { type Asked, hintFor } from './hints.ts'

/** How a send stands, for a person. */
export function standing(sent: Sent): string {
  if (sent.state === 'refused') return `refused ${sent.code}`
  return sent.state === 'unknown' ? `unknown, still trying (${sent.why})` : 'accepted'
}

/** The host's refusal of a send, with what to do about it where that is known. */
export function refusalOf(sent: Extract<Sent, { state: 'refused' }>, asked?: Asked): Refusal {
  const missing = sent.missing === null ? {} : { missing: sent.missing }
  const why = sent.missing === null ? '' : `: the right ${sent.missing} is missing`
  const hint = asked === undefined ? undefined : hintFor(asked, sent.code, sent.task)
  const facts = hint === undefined ? missing : { ...missing, hint }
  return new Refusal(sent.code, `the host refused the ${sent.kind}${why}`, facts)
}
