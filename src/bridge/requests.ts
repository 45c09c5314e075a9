import {
  clockSkewSeconds,
  nudgeAnswerSeconds,
  nudgeSeconds,
  reAskSeconds,
  requestsInFlightMax,
} from '../limits.ts'
import type { Nudge } from '../protocol/bodies/nudge.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { nudgeMailbox } from '../protocol/mailbox.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { fewAtOnce, nowSeconds } from '../seams/clock.ts'
import { type ActDeps, act, actOnRedemption, answer, keptFor } from './act.ts'
import { type Admission, type Asked, admit, admitsNudge } from './admit.ts'
import { faultOf, readArrival } from './arrivals.ts'
import { keepingOf } from './dispatch.ts'
import { reasonOf } from './log.ts'
import { recently } from './recently.ts'
import type { Arrival } from './relay-link-options.ts'
import { isKnown, type StrangerGate } from './strangers.ts'

export interface RequestDeps extends Omit<ActDeps, 'turn'> {
  /** The conversation key with a peer. */
  keyOf(peer: string): Uint8Array
  readonly policy: RelayPolicy
  readonly gate: StrangerGate
  /** Hands an answer to the relay that its request came from, while it is fresh (Unix seconds). */
  publish(relay: string, event: NostrEvent, freshUntil: number): Promise<PublishOutcome>
  /** A device has a grant. */
  enrolled(device: string): void
  /** A device was heard under a grant. */
  heard(grant: string): void
  /** A device, or the owner, wants the host to show itself. */
  nudged(device: string): void
  /** An answer about an effect never reached the relay that its device listens to. */
  undelivered(device: string, relay: string): void
}

/** The host's side of every request, from any relay. */
export interface Requests {
  /** Whether an event is for us and its signature holds; the reason is counted when not. */
  verify(event: NostrEvent): boolean
  /** Takes a verified event. Never throws; each request runs on its own, so a slow one delays no other. */
  receive(event: NostrEvent, arrival: Arrival): void
  inFlight(): number
  /** Resolves when everything that was received has been answered or dropped. */
  idle(): Promise<void>
}

/**
 * Receives, admits, acts and answers.
 * @see spec/wire.md §7
 */
export function createRequests(deps: RequestDeps): Requests {
  const { book, counters, log } = deps
  const { clock } = deps.context
  const acting = new Map<string, string>()
  const running = new Set<Promise<void>>()
  const acts: ActDeps = { ...deps, turn: fewAtOnce(1) }
  const mayAskAgain = recently(clock, reAskSeconds)
  const isNewNudge = recently(clock, nudgeSeconds + clockSkewSeconds)
  const mayAnswerNudge = recently(clock, nudgeAnswerSeconds)

  const take = async (event: NostrEvent, arrival: Arrival): Promise<void> => {
    counters.count('received')
    if (arrival.again && !mayAskAgain(`${arrival.relay} ${event.id}`)) return counters.count('asked_again')
    const known = isKnown(book.read(), event.pubkey)
    const conversationKey = deps.keyOf(event.pubkey)
    const arrived = readArrival(event, arrival.relay, { conversationKey, policy: deps.policy, known })
    if (arrived.kind === 'nothing') return counters.count(arrived.reason)
    if (arrived.kind === 'nudge') return answerNudge(event, arrived, conversationKey)
    const { asked } = arrived
    const admission = admit(asked, {
      record: book.read(),
      kept: deps.replies.find(asked.head.request),
      inFlight: acting.get(asked.head.request) ?? null,
      now: nowSeconds(clock),
    })
    await follow(asked, admission, arrival)
  }

  /** Each nudge once, by its ID, whichever relays bring it; those of one device at most every half a minute. */
  const answerNudge = (
    { id, pubkey: signer }: NostrEvent,
    arrived: { nudge: Nudge; mailbox: string },
    conversationKey: Uint8Array,
  ): void => {
    const around = { record: book.read(), now: nowSeconds(clock) }
    const admitted = admitsNudge({ ...arrived, signer }, around, nudgeMailbox(conversationKey))
    const answered = admitted && isNewNudge(id) && mayAnswerNudge(signer)
    counters.count(answered ? 'nudges_answered' : 'nudges_ignored')
    if (answered) deps.nudged(signer)
  }

  const follow = async (asked: Asked, admission: Admission, arrival: Arrival): Promise<void> => {
    if ('heard' in admission && admission.heard !== null) {
      book.seen(admission.heard)
      deps.heard(admission.heard)
    }
    switch (admission.kind) {
      case 'silent':
        return counters.count(admission.reason)
      case 'kept':
        // Stored history is no question: whoever wants the answer once more asks once more.
        return arrival.stored ? counters.count('history') : publish(asked, admission.reply)
      case 'refuse':
        return refuse(asked, admission)
      case 'redeem':
        await claimed(asked, () => actOnRedemption(deps, asked, admission.op))
        return deps.enrolled(asked.signer)
      case 'act':
        return await claimed(asked, () => act(acts, asked, admission.principal, admission.op))
    }
  }

  /** Runs `work` as the one holder of this request's ID and publishes what it gives. */
  const claimed = async (asked: Asked, work: () => Promise<NostrEvent | null>): Promise<void> => {
    const { request } = asked.head
    if (acting.size >= requestsInFlightMax) {
      counters.count('too_many_in_flight')
      return refuse(asked, { code: 'rate_limited', missing: null, retain: false })
    }
    acting.set(request, asked.event)
    try {
      const reply = await work()
      if (reply !== null) publish(asked, reply)
    } finally {
      acting.delete(request)
    }
  }

  const refuse = (
    asked: Asked,
    { code, missing, retain }: Pick<Extract<Admission, { kind: 'refuse' }>, 'code' | 'missing' | 'retain'>,
  ): void => {
    if (isStranger(asked) && !deps.gate.mayRefuse()) {
      counters.count('stranger_refusals')
      return
    }
    const reply = answer(deps, asked, { status: 'refused', code, missing })
    if (retain) deps.replies.ride({ ...keptFor(deps, asked), reply })
    publish(asked, reply)
  }

  /** Whoever knows an invitation's capability was told it; of the rest only the few in the book are known. */
  const isStranger = ({ op, signer }: Asked): boolean =>
    !(op.ok && op.op.kind === 'enroll.redeem') && !isKnown(book.read(), signer)

  const publish = (asked: Asked, reply: NostrEvent): void => {
    counters.count('answered')
    const sent = deps.publish(asked.relay, reply, asked.head.expires_at)
    if (!hasEffect(asked)) return
    void sent.then(({ outcome }) => {
      if (outcome !== 'accepted') deps.undelivered(asked.signer, asked.relay)
    })
  }

  const hasEffect = ({ op }: Asked): boolean => op.ok && ['effect', 'journal'].includes(keepingOf(op.op))

  const failed = (error: unknown): void => {
    counters.count('failed')
    log.error('what arrived could not be handled', { reason: reasonOf(error) })
  }

  return {
    verify(event) {
      try {
        const fault = faultOf(event, book.read(), deps.gate)
        if (fault !== null) counters.count(fault)
        return fault === null
      } catch (error) {
        failed(error)
        return false
      }
    },
    receive(event, arrival) {
      const done = take(event, arrival).catch(failed)
      running.add(done)
      void done.finally(() => running.delete(done))
    },
    inFlight: () => acting.size,
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
