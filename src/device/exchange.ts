import { deviceRetryMs, relayLifetimeSeconds } from '../limits.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { type Clock, pause } from '../seams/clock.ts'
import { type DeviceLinkOptions, openDeviceLink } from './device-link.ts'
import { createKeeper } from './keep.ts'
import type { Answer, HostLink } from './link.ts'
import type { SignedRequest } from './request.ts'
import { within } from './within.ts'

/** Why nothing is to be sent now, in words. */
export interface Postponed {
  readonly postponed: string
}

/** Requests to one host over one relay, on a connection that is dialled when it is needed. */
export interface Exchange {
  /**
   * Asks and waits for the answer until `deadlineMs` of host time (milliseconds), over as many connections as it
   * takes; each gets the same signed request.
   * @param sign called once, when a reply would be heard: a request is dated when it is sent
   */
  ask(sign: () => Promise<SignedRequest | Postponed>, deadlineMs: number): Promise<Answer>
  /** Publishes an event that has no answer, if there is a connection. */
  tell(event: NostrEvent): void
  isLive(): boolean
  /**
   * Holds a connection from now on, a new one in place of each that ends, and before an old one is too old to be
   * trusted; nothing is missed in between. The first is a new one. Returns the end of it.
   */
  keep(): () => void
  close(): void
}

export function createExchange(options: DeviceLinkOptions): Exchange {
  return createExchangeOver(options.clock, () => openDeviceLink(options))
}

/** The same over links of any kind; `open` dials one. */
export function createExchangeOver(clock: Clock, open: () => HostLink): Exchange {
  let link: HostLink | null = null
  let live = false
  let closed = false
  /**
   * A connection on which an answer did not come: the relay may have it, and give it to the next one only. One that is
   * kept is replaced in its time.
   */
  let mistrusted: HostLink | null = null

  const opened = (): HostLink => {
    const next = open()
    live = false
    void next.live.then(({ ok }) => {
      if (link === next) live = ok
    })
    return next
  }
  const current = (): HostLink => {
    if (link !== null && link === mistrusted) link.retire()
    if (link === null || link === mistrusted || !link.isOpen()) link = opened()
    return link
  }
  const replace = async (): Promise<void> => {
    const next = open()
    if (!(await next.live).ok || closed) {
      next.close()
      return
    }
    // Somebody may have asked meanwhile, and dialled another one for it.
    link?.retire()
    link = next
    live = true
  }
  const keeper = createKeeper({
    clock,
    // What is asked of the relay may be more from here on.
    begin: async () => {
      mistrusted = null
      if (link?.isOpen() === true) await replace()
    },
    current,
    renew: replace,
    lifetimeMs: relayLifetimeSeconds * 1000,
  })

  return {
    async ask(sign, untilMs) {
      const asking: Asking = {
        sign,
        asked: null,
        deadlineMs: untilMs,
        why: 'the relay could not be reached in time',
      }
      for (;;) {
        if (asking.deadlineMs <= clock.nowMs() || closed)
          return { heard: 'silence', why: asking.why, lost: true }
        const connection = current()
        const answer = await askOver(connection, asking, clock)
        if (answer !== null) {
          const isSilent = answer.heard === 'silence' && answer.postponed !== true
          if (isSilent && !keeper.isKeeping()) mistrusted = connection
          return answer
        }
        connection.close()
        await pause(clock, Math.max(0, Math.min(deviceRetryMs, asking.deadlineMs - clock.nowMs())))
      }
    },
    tell: (event) => link?.tell(event),
    isLive: () => live && link?.isOpen() === true,
    keep: () => keeper.keep(),
    close() {
      closed = true
      keeper.stop()
      link?.close()
    },
  }
}

interface Asking {
  readonly sign: () => Promise<SignedRequest | Postponed>
  asked: SignedRequest | null
  deadlineMs: number
  why: string
}

/** What comes of asking on one connection, or null when that could not be used: `why` is said then. */
async function askOver(connection: HostLink, asking: Asking, clock: Clock): Promise<Answer | null> {
  const live = await within(clock, connection.live, asking.deadlineMs - clock.nowMs())
  if (live?.ok !== true) {
    asking.why = live?.why ?? asking.why
    return null
  }
  const startedMs = clock.nowMs()
  const signed: SignedRequest | Postponed = asking.asked ?? (await asking.sign())
  if ('postponed' in signed) return { heard: 'silence', why: signed.postponed, lost: false, postponed: true }
  asking.asked = signed
  // A person may have to agree to a signature: that time is nobody's silence.
  asking.deadlineMs += Math.max(0, clock.nowMs() - startedMs)
  const answer = await connection.ask(signed, Math.max(0, asking.deadlineMs - clock.nowMs()))
  if (answer.heard === 'reply' || !answer.lost) return answer
  asking.why = answer.why
  return null
}
