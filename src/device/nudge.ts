import { clockSkewSeconds, nudgeSeconds } from '../limits.ts'
import type { Nudge } from '../protocol/bodies/nudge.ts'
import { parseBody } from '../protocol/body.ts'
import { sealEnvelope } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { nudgeMailbox } from '../protocol/mailbox.ts'
import type { Random } from '../seams/random.ts'
import { readWord, type WordTerms } from './host-word.ts'
import type { Identity } from './identity.ts'

/**
 * Asks a host to show itself and to look at what it holds.
 * @param now device time, Unix seconds
 * @see spec/wire.md §5
 */
export function sealNudge(identity: Identity, host: string, now: number, random: Random): NostrEvent {
  const body: Nudge = {
    v: 'openagents.host-nudge.v1',
    requires: [],
    host,
    device: identity.signer.publicKey,
    issued_at: now,
    expires_at: now + nudgeSeconds,
  }
  const conversationKey = identity.keys.get(host)
  return sealEnvelope({
    signer: identity.signer,
    recipient: host,
    mailbox: nudgeMailbox(conversationKey),
    body,
    conversationKey,
    issuedAt: body.issued_at,
    retainUntil: body.expires_at,
    random,
  })
}

/**
 * Whether `event` is a nudge of `host` for this device that is still good: signed by the host, to us, in the mailbox
 * of nudges, about the two of us, issued at most a minute ahead of our clock and not over.
 * @see spec/wire.md §5
 */
export function isNudge(event: NostrEvent, terms: WordTerms): boolean {
  const { identity, host, policy, now } = terms
  const nudge = readWord(event, terms, nudgeMailbox, ({ body }) => parseBody('nudge', body, policy))
  if (nudge === null || nudge.host !== host || nudge.device !== identity.signer.publicKey) return false
  return nudge.issued_at <= now + clockSkewSeconds && nudge.expires_at > now
}
