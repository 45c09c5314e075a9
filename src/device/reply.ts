import { clockSkewSeconds } from '../limits.ts'
import type { HostReply, Result } from '../protocol/bodies/reply.ts'
import type { HostRequest } from '../protocol/bodies/request.ts'
import { parseBody } from '../protocol/body.ts'
import { type OpenedEnvelope, openVerified } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { skewWords } from './clock-words.ts'
import type { Identity } from './identity.ts'
import { checkOutcome, type OutcomeTerms } from './outcome-check.ts'
import type { SignedRequest } from './request.ts'

export interface ReplyTerms {
  readonly identity: Identity
  readonly asked: SignedRequest
  /** Device time, Unix seconds. */
  readonly now: number
  readonly policy: RelayPolicy
}

type OpenedTerms = Omit<ReplyTerms, 'identity'> & Pick<OutcomeTerms, 'self' | 'open'>

/**
 * Reads the host's answer to one request, after every check that a device owes itself: the host signed it, to us, in
 * the request's mailbox, about this very event, within its lifetime give or take 60 s of clock, and what it brings
 * answers the operation.
 *
 * Refuses `malformed` (ignore it) for all but the times, and `stale` with words about the clocks for those.
 * @see spec/wire.md §5, §7
 */
export function readReply(event: NostrEvent, { identity, asked, now, policy }: ReplyTerms): Result {
  if (event.pubkey !== asked.body.host) throw foreign('signer')
  const self = identity.signer.publicKey
  const open = (sealed: NostrEvent) => openVerified(sealed, self, (peer) => identity.keys.get(peer))
  return checkReply(open(event), { self, open, asked, now, policy })
}

/** The checks of `readReply`, on a reply that was verified and opened already. `open` opens a grant to `self`. */
export function checkReply(opened: OpenedEnvelope, { self, open, asked, now, policy }: OpenedTerms): Result {
  const { body: request } = asked
  if (opened.author !== request.host) throw foreign('signer')
  if (opened.recipient !== self) throw foreign('recipient')
  if (opened.mailbox !== request.request) throw foreign('mailbox')
  const reply = parseBody('reply', opened.body, policy)
  if (reply.host !== request.host) throw foreign('host')
  if (reply.request !== request.request) throw foreign('request')
  if (reply.request_event !== asked.event.id) throw foreign('request_event')
  if (reply.expires_at !== request.expires_at) throw foreign('expires_at')
  checkTimes(reply, request, now)
  if (reply.result.status === 'ok') checkOutcome(reply.result.outcome, { self, open, request, policy })
  return reply.result
}

function checkTimes(reply: HostReply, request: HostRequest, now: number): void {
  const early = reply.issued_at < request.issued_at - clockSkewSeconds
  const ahead = reply.issued_at > now + clockSkewSeconds
  const over = now > reply.expires_at + clockSkewSeconds
  if (!early && !ahead && !over) return
  // An answer is written after its request and before it is heard: beyond those, the clocks differ at least so much.
  const aheadSeconds = reply.issued_at - (early ? request.issued_at : now)
  const words = early || ahead ? skewWords(aheadSeconds) : 'the answer had expired when it came'
  throw new Refusal('stale', words, { field: 'issued_at' })
}

function foreign(field: string): Refusal {
  return new Refusal('malformed', `not the answer to this request: ${field}`, { field })
}
