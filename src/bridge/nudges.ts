import {
  grantsMax,
  hostNudgeFreshSeconds,
  nudgeAnswerSeconds,
  nudgeSeconds,
  summaryRetryMs,
} from '../limits.ts'
import type { Nudge } from '../protocol/bodies/nudge.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { nudgeMailbox } from '../protocol/mailbox.ts'
import type { PublishOutcome } from '../protocol/relay-session.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import { audience } from './access/audience.ts'
import type { AccessBook } from './access/book.ts'
import { type Sealer, seal } from './seal.ts'
import { createTellings } from './tellings.ts'

/** The host's own nudges: a device that missed an answer is asked to send again what it still waits for. */
export interface Nudges {
  /** An answer about an effect never reached `relay`, where `device` listens. */
  undelivered(device: string, relay: string): void
  close(): void
}

/**
 * A nudge waits until its relay takes it, sealed anew while it does not, and for a day at most; one device gets at
 * most one in half a minute. Who is neither the owner nor enrolled by then gets none.
 * @see spec/wire.md §5
 */
export function createNudges(deps: {
  clock: Clock
  book: AccessBook
  sealer: Sealer
  publish(relay: string, event: NostrEvent, freshUntil: number, slot: string): Promise<PublishOutcome>
}): Nudges {
  const { clock, book, sealer } = deps
  const relays = new Map<string, string>()

  const nudge = async (device: string): Promise<boolean> => {
    const relay = relays.get(device)
    const now = nowSeconds(clock)
    const { owner } = book.read()
    if (relay === undefined || (device !== owner && !audience(book.read(), now).has(device))) return true
    const event = sealNudge(sealer, device, now)
    const { outcome } = await deps.publish(relay, event, now + hostNudgeFreshSeconds, `nudge ${device}`)
    return outcome !== 'unknown'
  }
  const tellings = createTellings(clock, bounds, nudge)

  return {
    undelivered(device, relay) {
      relays.set(device, relay)
      for (const oldest of relays.keys()) {
        if (relays.size <= grantsMax) break
        relays.delete(oldest)
      }
      tellings.add(device)
    },
    close: tellings.close,
  }
}

const bounds = {
  everyMs: nudgeAnswerSeconds * 1_000,
  retryMs: summaryRetryMs,
  giveUpMs: nudgeSeconds * 1_000,
  onTheWayMax: grantsMax,
}

function sealNudge(sealer: Sealer, device: string, now: number): NostrEvent {
  const body: Nudge = {
    v: 'openagents.host-nudge.v1',
    requires: [],
    host: sealer.signer.publicKey,
    device,
    issued_at: now,
    expires_at: now + nudgeSeconds,
  }
  return seal(sealer, device, nudgeMailbox(sealer.keyOf(device)), body, now, body.expires_at)
}
