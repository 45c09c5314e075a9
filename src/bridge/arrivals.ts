import { envelopeContentBytesMax, strangerContentBytesMax } from '../limits.ts'
import type { Nudge } from '../protocol/bodies/nudge.ts'
import { parseBody } from '../protocol/body.ts'
import { artifactKind, envelopeAddress, type OpenedEnvelope, openEnvelope } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { isRefusal, type WireCode, wireCodes } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { parseRequest } from '../protocol/request-parts.ts'
import { verifyEvent } from '../protocol/signer.ts'
import type { AccessRecord } from './access/record.ts'
import type { Asked } from './admit.ts'
import type { Counted } from './counters.ts'
import { isKnown, type StrangerGate } from './strangers.ts'

/** What an event brought, or the reason for which it earns nothing. */
export type Arrived =
  | { readonly kind: 'request'; readonly asked: Asked }
  | { readonly kind: 'nudge'; readonly nudge: Nudge; readonly mailbox: string }
  | { readonly kind: 'nothing'; readonly reason: Counted }

/**
 * Why an event is not for us at all, or null once its id and signature hold: kind, recipient and size first, then
 * whether its author is worth the work.
 * @see spec/wire.md §7
 */
export function faultOf(event: NostrEvent, record: AccessRecord, gate: StrangerGate): Counted | null {
  if (event.kind !== artifactKind) return 'not_our_kind'
  if (recipientOf(event) !== record.host) return 'not_for_us'
  if (event.content.length > envelopeContentBytesMax) return 'oversized'
  const closed = isKnown(record, event.pubkey) ? null : gate.closedFor(event, record)
  if (closed !== null) return closed
  return verifyEvent(event) ? null : 'bad_signature'
}

/**
 * Opens and reads a verified event.
 * @param relay the URL that it arrived on
 * @param conversationKey of the host and the author
 */
export function readArrival(
  event: NostrEvent,
  relay: string,
  around: { conversationKey: Uint8Array; policy: RelayPolicy; known: boolean },
): Arrived {
  const contentBytesMax = around.known ? envelopeContentBytesMax : strangerContentBytesMax
  const opened = refusable(() =>
    openEnvelope(event, around.conversationKey, { contentBytesMax, looseOperations: true }),
  )
  if (opened === null) return { kind: 'nothing', reason: 'bad_envelope' }
  switch (opened.schema) {
    case 'openagents.host-request.v1': {
      const asked = refusable(() => askedOf(event, opened, relay, around.policy))
      return asked === null ? { kind: 'nothing', reason: 'bad_body' } : { kind: 'request', asked }
    }
    case 'openagents.host-nudge.v1': {
      const nudge = refusable(() => parseBody('nudge', opened.body, around.policy))
      return nudge === null
        ? { kind: 'nothing', reason: 'bad_body' }
        : { kind: 'nudge', nudge, mailbox: opened.mailbox }
    }
    default:
      return { kind: 'nothing', reason: 'other_schema' }
  }
}

function askedOf(event: NostrEvent, opened: OpenedEnvelope, relay: string, policy: RelayPolicy): Asked {
  const reading = parseRequest(opened.body, policy, opened.looseOperation)
  const common = { event: event.id, signer: event.pubkey, mailbox: opened.mailbox, relay }
  if (reading.ok) return { ...common, head: reading.request, op: { ok: true, op: reading.request.op } }
  return { ...common, head: reading.head, op: { ok: false, code: probeCode(reading.refusal.code) } }
}

/** A bad operation earns one of three words. */
function probeCode(code: string): WireCode {
  const known = wireCodes.find((word) => word === code)
  return known === 'unsupported' || known === 'bounds' ? known : 'malformed'
}

function recipientOf(event: NostrEvent): string | null {
  return refusable(() => envelopeAddress(event))?.recipient ?? null
}

/** What `read` gives, or null when it refuses. */
function refusable<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}
