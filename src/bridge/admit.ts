import { clockSkewSeconds } from '../limits.ts'
import type { Nudge } from '../protocol/bodies/nudge.ts'
import type { RequestHead } from '../protocol/bodies/request.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { isQueueChange, type Operation, type OperationOf, rightOf } from '../protocol/operations.ts'
import type { WireCode } from '../protocol/refusal.ts'
import type { Right } from '../protocol/rights.ts'
import { currentGrants } from './access/grants.ts'
import { holdsRight, type Principal, principalOf } from './access/principal.ts'
import type { AccessRecord } from './access/record.ts'
import { decideRedemption } from './access/redeem.ts'
import type { Counted } from './counters.ts'
import type { KeptReply } from './kept-replies.ts'

/** A request as it arrived: opened, its signature verified, its body read. */
export interface Asked {
  /** The id of the event that carried it. */
  readonly event: string
  readonly signer: string
  readonly mailbox: string
  /** The relay that it arrived on. */
  readonly relay: string
  readonly head: RequestHead
  /** The operation, or the code that a bad one earned while all the rest was valid. */
  readonly op: { readonly ok: true; readonly op: Operation } | { readonly ok: false; readonly code: WireCode }
}

/** What is true around a request. */
export interface Around {
  readonly record: AccessRecord
  /** What is kept under this request's ID. */
  readonly kept: KeptReply | null
  /** The event of the same request ID that is being acted on right now. */
  readonly inFlight: string | null
  /** Host time, Unix seconds. */
  readonly now: number
}

/** What a request earns. `heard` is the grant whose `last_seen` is now. */
export type Admission =
  | { readonly kind: 'silent'; readonly reason: Counted }
  | {
      readonly kind: 'refuse'
      readonly code: WireCode
      readonly missing: Right | null
      readonly retain: boolean
      readonly heard: string | null
    }
  | { readonly kind: 'kept'; readonly reply: NostrEvent; readonly heard: string | null }
  | { readonly kind: 'redeem'; readonly op: OperationOf<'enroll.redeem'> }
  | {
      readonly kind: 'act'
      readonly principal: Principal
      readonly op: Operation
      readonly heard: string | null
    }

/**
 * Decides who may, in the order of the page: first what earns nothing at all, then the request's ID, the principal,
 * the right, the kept reply, and only then the act. Pure; nothing outside this file decides who may.
 * @see spec/wire.md §7
 */
export function admit(asked: Asked, around: Around): Admission {
  const quiet = silentReason(asked, around)
  if (quiet !== null) return { kind: 'silent', reason: quiet }
  if (asked.op.ok && asked.op.op.kind === 'enroll.redeem') return admitRedemption(asked, asked.op.op, around)
  if (asked.signer === around.record.host) return { kind: 'silent', reason: 'from_host' }
  if (!asked.op.ok) return answerProbe(asked, asked.op.code, around)
  const { op } = asked.op
  if (isTaken(asked, around)) return refuse('conflict')
  const principal = principalOf(around.record, { signer: asked.signer, ...asked.head }, around.now)
  if (typeof principal === 'string') return refuse(principal)
  const heard = principal.kind === 'device' ? principal.entry.grant.grant : null
  const kept = around.kept?.reply ?? null
  if (kept !== null) return { kind: 'kept', reply: kept, heard }
  const right = rightOf(op)
  if (!holdsRight(principal, right)) {
    return { kind: 'refuse', code: 'missing_right', missing: right, retain: true, heard }
  }
  if (around.inFlight !== null) return { kind: 'silent', reason: 'in_flight' }
  // It was begun before a crash: what it wanted may be done, and others may have changed it since.
  if (around.kept !== null && isQueueChange(op)) {
    return { kind: 'refuse', code: 'unavailable', missing: null, retain: true, heard }
  }
  return { kind: 'act', principal, op, heard }
}

/**
 * Whether a nudge is worth an answer: one from the owner or the holder of a current grant, for itself, in the mailbox
 * of the two, and alive by the host's clock. Pure.
 * @param expected the mailbox where nudges of its signer wait
 * @see spec/wire.md §5, §8
 */
export function admitsNudge(
  { nudge, signer, mailbox }: { nudge: Nudge; signer: string; mailbox: string },
  { record, now }: { record: AccessRecord; now: number },
  expected: string,
): boolean {
  if (nudge.device !== signer || nudge.host !== record.host || mailbox !== expected) return false
  if (nudge.issued_at > now + clockSkewSeconds || nudge.expires_at <= now) return false
  return isServed(record, signer, now)
}

/** Why a request earns no answer whoever sent it, or null. */
function silentReason({ head, mailbox, relay }: Asked, { record, now }: Around): Counted | null {
  if (head.host !== record.host) return 'other_host'
  if (head.relay !== relay) return 'other_relay'
  if (mailbox !== head.request) return 'other_mailbox'
  if (head.issued_at > now + clockSkewSeconds || head.expires_at <= now) return 'outside_window'
  return null
}

/** A wrong or unknown capability is silence; what the right one earns is decided under the book's writer lock. */
function admitRedemption(asked: Asked, op: OperationOf<'enroll.redeem'>, around: Around): Admission {
  const redemption = { signer: asked.signer, request_event: asked.event, ...op, ...windowOf(asked) }
  const decision = decideRedemption(around.record, redemption, around.now)
  if (decision.kind === 'silent') return decision
  if (isTaken(asked, around)) return refuse('conflict')
  if (decision.kind === 'kept') return { kind: 'kept', reply: decision.reply.reply, heard: null }
  if (decision.kind === 'refuse') return refuse(decision.code)
  return around.inFlight === null ? { kind: 'redeem', op } : { kind: 'silent', reason: 'in_flight' }
}

/** Devices probe a host with operations that it may not know; only those it serves learn anything. */
function answerProbe(asked: Asked, code: WireCode, { record, now }: Around): Admission {
  return isServed(record, asked.signer, now) ? refuse(code) : { kind: 'silent', reason: 'bad_body' }
}

/** The owner, and whoever holds a current grant. */
function isServed(record: AccessRecord, signer: string, now: number): boolean {
  return signer === record.owner || currentGrants(record, now).some(({ grant }) => grant.device === signer)
}

/** Whether this request ID belongs to another event already. */
function isTaken(asked: Asked, { kept, inFlight, record }: Around): boolean {
  if (kept !== null && kept.request_event !== asked.event) return true
  if (inFlight !== null && inFlight !== asked.event) return true
  return record.invitations.some((invitation) =>
    invitation.replies.some(
      (reply) => reply.request === asked.head.request && reply.request_event !== asked.event,
    ),
  )
}

function windowOf({ head }: Asked): { relay: string; issued_at: number } {
  return { relay: head.relay, issued_at: head.issued_at }
}

function refuse(code: WireCode): Admission {
  return { kind: 'refuse', code, missing: null, retain: false, heard: null }
}
