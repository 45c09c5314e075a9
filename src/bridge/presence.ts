import { presenceEverySeconds, presenceSeconds } from '../limits.ts'
import type { Presence } from '../protocol/bodies/presence.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { presenceMailbox } from '../protocol/mailbox.ts'
import { type Clock, nowSeconds, type Timer } from '../seams/clock.ts'
import type { Telemetry } from '../seams/telemetry.ts'
import { audience } from './access/audience.ts'
import type { AccessBook } from './access/book.ts'
import { type Sealer, seal } from './seal.ts'

/** What this host can do for a device, in the words of presence. */
const capabilities = [
  'activity-summary',
  'enroll',
  'invite',
  'nudge',
  'task-archive',
  'task-cancel',
  'task-command',
  'task-create',
  'task-queue',
  'task-read',
  'task-steer',
  'workspace-list',
]

/** Tells enrolled devices that the host is here. */
export interface Announcer {
  /** Announces to every enrolled device now, and every minute from now on. */
  announce(): void
  announceTo(device: string): void
  close(): void
}

/**
 * @param generation rises with each start of the service
 * @param publish hands an event to the relay of the device's grant while it is fresh (Unix seconds); of those that
 * still wait in its slot only the newest is wanted
 * @see spec/wire.md §5
 */
export function createAnnouncer(deps: {
  clock: Clock
  book: AccessBook
  sealer: Sealer
  generation: number
  telemetry: Telemetry
  publish(relay: string, event: NostrEvent, freshUntil: number, slot: string): void
}): Announcer {
  const { clock, book, sealer } = deps
  let timer: Timer | null = null
  let closed = false

  const announceTo = (device: string, relay: string, telemetry: Presence['telemetry']): void => {
    const { host, owner } = book.read()
    const observed_at = nowSeconds(clock)
    const body: Presence = {
      v: 'openagents.host-presence.v1',
      requires: [],
      host,
      owner,
      generation: deps.generation,
      protocol: 1,
      compatibility: { min: 1, max: 1 },
      capabilities,
      observed_at,
      telemetry,
    }
    const mailbox = presenceMailbox(sealer.keyOf(device))
    const until = observed_at + presenceSeconds
    const event = seal(sealer, device, mailbox, body, observed_at, until)
    deps.publish(relay, event, until, `presence ${device}`)
  }

  const enrolled = () => audience(book.read(), nowSeconds(clock))

  const announce = (): void => {
    if (closed) return
    const telemetry = deps.telemetry.read()
    for (const [device, relay] of enrolled()) announceTo(device, relay, telemetry)
    timer?.cancel()
    timer = clock.after(presenceEverySeconds * 1000, announce)
  }

  return {
    announce,
    announceTo(device) {
      const relay = enrolled().get(device)
      if (relay !== undefined && !closed) announceTo(device, relay, deps.telemetry.read())
    },
    close() {
      closed = true
      timer?.cancel()
    },
  }
}
