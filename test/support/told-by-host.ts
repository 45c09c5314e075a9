import { nudgeSeconds } from '../../src/limits.ts'
import { type Bodies, parseBody } from '../../src/protocol/body.ts'
import { openVerified, sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { nudgeMailbox, presenceMailbox, summaryMailbox } from '../../src/protocol/mailbox.ts'
import { type Clock, nowSeconds } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import type { TestKey } from './keys.ts'
import type { QuietBridge } from './quiet-bridge.ts'

const mailboxes = { presence: presenceMailbox, summary: summaryMailbox, nudge: nudgeMailbox }
type Telling = keyof typeof mailboxes

/** The events by which the host told a key something unasked, each once, in the order in which it sent them. */
export function eventsTo(bridge: QuietBridge, key: TestKey, what: Telling): NostrEvent[] {
  const mailbox = mailboxes[what](key.with(bridge.host))
  const events = bridge
    .published()
    .filter(({ tags }) => tags.some(([name, value]) => name === 'h' && value === mailbox))
  return [...new Map(events.map((event) => [event.id, event])).values()]
}

/** What the host told a key unasked, verified and opened as its device would; the relay takes what it was given. */
export function toldTo<T extends Telling>(bridge: QuietBridge, key: TestKey, what: T): Bodies[T][] {
  return eventsTo(bridge, key, what).map((event) => {
    bridge.connection().say('OK', event.id, true, '')
    const opened = openVerified(event, key.publicKey, key.with)
    if (opened.author !== bridge.host || opened.recipient !== key.publicKey)
      throw new Error('not from the host')
    return parseBody(what, opened.body, 'production')
  })
}

/** A nudge of a key to the host, dated now, with whatever a test wants wrong about it. */
export function nudgeFrom(
  bridge: { readonly host: string; readonly clock: Clock },
  key: TestKey,
  changes: { device?: string; issued_at?: number; mailbox?: string } = {},
): NostrEvent {
  const issued_at = changes.issued_at ?? nowSeconds(bridge.clock)
  const body: Bodies['nudge'] = {
    v: 'openagents.host-nudge.v1',
    requires: [],
    host: bridge.host,
    device: changes.device ?? key.publicKey,
    issued_at,
    expires_at: issued_at + nudgeSeconds,
  }
  const conversationKey = key.with(bridge.host)
  return sealEnvelope({
    signer: key.signer,
    recipient: bridge.host,
    mailbox: changes.mailbox ?? nudgeMailbox(conversationKey),
    body,
    conversationKey,
    issuedAt: issued_at,
    retainUntil: body.expires_at,
    random: systemRandom,
  })
}
