import { publishWaitSeconds, relayBufferedBytesMax } from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import type { RelayConnection } from '../protocol/relay-connection.ts'
import { okOutcome } from '../protocol/relay-frames.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import { type Clock, nowSeconds, type Timer } from '../seams/clock.ts'

/** Events on their way to one relay. */
export interface Publications {
  /** @param freshUntil host time, Unix seconds, after which nobody wants the event any more */
  publish(event: NostrEvent, freshUntil: number): Promise<PublishOutcome>
  /** What the relay said of one. */
  answered(id: string, outcome: PublishOutcome): void
  /** A connection became live: whatever has no answer goes out on it. */
  resend(): void
  count(): number
  /** Ends the rest as unknown. */
  close(): void
}

interface Publication {
  readonly event: NostrEvent
  readonly freshUntil: number
  readonly resolve: (outcome: PublishOutcome) => void
  readonly promise: Promise<PublishOutcome>
  timer: Timer | null
}

/**
 * Publishes each event on the current connection until the relay says something final of it; silence, a lost
 * connection and a passing refusal mean another try while it is fresh, and `unknown` when it no longer is.
 * @param current the connection to send on now, or null
 */
export function createPublications(clock: Clock, current: () => RelayConnection | null): Publications {
  const waiting = new Map<string, Publication>()
  let bytes = 0

  const settle = (publication: Publication, outcome: PublishOutcome): void => {
    publication.timer?.cancel()
    waiting.delete(publication.event.id)
    bytes -= sizeOf(publication.event)
    current()?.forget(publication.event.id)
    publication.resolve(outcome)
  }

  const attempt = (publication: Publication): void => {
    const leftMs = publication.freshUntil * 1000 - clock.nowMs()
    if (leftMs <= 0) {
      settle(publication, { outcome: 'unknown' })
      return
    }
    current()?.publish(publication.event)
    publication.timer?.cancel()
    publication.timer = clock.after(Math.min(leftMs, publishWaitSeconds * 1000), () => attempt(publication))
  }

  return {
    publish(event, freshUntil) {
      const known = waiting.get(event.id)
      if (known !== undefined) return known.promise
      if (bytes > relayBufferedBytesMax || nowSeconds(clock) >= freshUntil)
        return Promise.resolve({ outcome: 'unknown' })
      let resolve: (outcome: PublishOutcome) => void = () => {}
      const promise = new Promise<PublishOutcome>((settled) => {
        resolve = settled
      })
      const publication: Publication = { event, freshUntil, resolve, promise, timer: null }
      waiting.set(event.id, publication)
      bytes += sizeOf(event)
      attempt(publication)
      return promise
    },
    answered(id, outcome) {
      const publication = waiting.get(id)
      if (publication === undefined) return
      // A refusal that may pass is no answer yet: the next try is already armed.
      if (outcome.outcome === 'refused' && okOutcome(false, outcome.prefix) !== 'give_up') return
      settle(publication, outcome)
    },
    resend() {
      for (const publication of [...waiting.values()]) attempt(publication)
    },
    count: () => waiting.size,
    close() {
      for (const publication of [...waiting.values()]) settle(publication, { outcome: 'unknown' })
    },
  }
}

/** About what an event costs while it waits, in bytes. */
function sizeOf(event: NostrEvent): number {
  return event.content.length + 512
}
