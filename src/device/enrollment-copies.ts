import {
  clockSkewSeconds,
  enrollmentContentBytesMax,
  enrollmentQuietMs,
  enrollmentSecondsMax,
  ownerCandidatesMax,
} from '../limits.ts'
import type { EnrollmentRequest } from '../protocol/bodies/enrollment-request.ts'
import { parseBody } from '../protocol/body.ts'
import { enrollmentDigest } from '../protocol/enrollment-code.ts'
import { artifactKind } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { openBy, type Sealer } from '../protocol/sealer.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { DialRelay } from '../seams/relay-socket.ts'
import { listen } from './listen.ts'
import { signerField } from './remote-signer/messages.ts'

/** An enrollment that waits for approval, as its host told an approver. */
export interface PendingEnrollment {
  readonly request: EnrollmentRequest
  /** What an approval or a denial names it by. */
  readonly digest: string
}

export interface ApproverTerms {
  /** The approver's key. */
  readonly sealer: Sealer
  readonly host: string
  /** Whose authority the host must serve: the approver's own, or that of the approver's grant. */
  readonly owner: string
  readonly relay: string
  readonly clock: Clock
  readonly dial: DialRelay
  readonly policy: RelayPolicy
}

/**
 * The enrollments of a host that wait for this approver on a relay: signed by the host, sealed to the approver, in
 * the mailbox of the enrollment, naming that owner and that relay, and in their time. Refuses `timeout` when the relay
 * cannot be used.
 * @see spec/wire.md §5, §7
 */
export async function pendingEnrollments(
  terms: ApproverTerms & { readonly waitMs: number },
): Promise<readonly PendingEnrollment[]> {
  const { sealer, host, relay, clock, dial, waitMs } = terms
  const read = new Map<string, PendingEnrollment | null>()
  const found = await listen({
    relay,
    signer: sealer,
    clock,
    dial,
    waitMs,
    quietMs: enrollmentQuietMs,
    filter() {
      const since = Math.max(0, nowSeconds(clock) - enrollmentSecondsMax - clockSkewSeconds)
      return { kinds: [artifactKind], authors: [host], '#p': [sealer.publicKey], since }
    },
    async consider(heard) {
      for (const event of heard) {
        if (read.size >= ownerCandidatesMax) break
        if (!read.has(event.id) && couldBe(event, terms)) read.set(event.id, await readCopy(event, terms))
      }
      const pending = [...read.values()].filter((one) => one !== null)
      return pending.length === 0 ? null : pending
    },
  })
  return found ?? []
}

/** The cheap half of the checks: a signer elsewhere should not open every reply. */
function couldBe(event: NostrEvent, { host }: ApproverTerms): boolean {
  return event.pubkey === host && event.content.length <= enrollmentContentBytesMax
}

/**
 * Reads one sealed copy; null for anything that is not a pending enrollment of the host for this approver.
 * @see spec/wire.md §5, §7
 */
export async function readCopy(event: NostrEvent, terms: ApproverTerms): Promise<PendingEnrollment | null> {
  const { sealer, host, owner, relay, clock, policy } = terms
  try {
    const opened = await openBy(sealer, event, { contentBytesMax: enrollmentContentBytesMax })
    if (opened.author !== host || opened.recipient !== sealer.publicKey) return null
    if (opened.schema !== 'openagents.host-enrollment-request.v1') return null
    const request = parseBody('enrollment', opened.body, policy)
    const now = nowSeconds(clock)
    const isIt =
      opened.mailbox === request.enrollment &&
      request.host === host &&
      request.owner === owner &&
      request.relay === relay &&
      request.issued_at <= now + clockSkewSeconds &&
      request.expires_at > now
    return isIt ? { request, digest: enrollmentDigest(request) } : null
  } catch (error) {
    // What the signer does not open says nothing of the event.
    if (isRefusal(error) && error.field !== signerField) return null
    throw error
  }
}

/**
 * The enrollment that is meant: the named one, or the only one. Refuses `not_found`, and `conflict` when there are
 * several and none is named.
 */
export function chooseEnrollment(
  pending: readonly PendingEnrollment[],
  enrollment: string | undefined,
): PendingEnrollment {
  const fitting = pending.filter(
    ({ request }) => enrollment === undefined || request.enrollment === enrollment,
  )
  const [one, other] = fitting
  if (one === undefined) {
    throw new Refusal('not_found', 'no enrollment of this host waits for you on this relay', {
      hint: 'ask anew on the host: drawbridge enroll request; it waits for five minutes',
    })
  }
  if (other === undefined) return one
  const ids = fitting.map(({ request }) => request.enrollment).join(' ')
  throw new Refusal('conflict', `${fitting.length} enrollments of this host wait: ${ids}`, {
    hint: 'say which with --enrollment ID: the host showed it with the code',
  })
}
