import { deviceRetryMs } from '../limits.ts'
import { type Clock, pause } from '../seams/clock.ts'
import { type Answer, type DeviceLink, type DeviceLinkOptions, openDeviceLink } from './link.ts'
import type { SignedRequest } from './request.ts'

/** Requests to one host over one relay, on a connection that is dialled when it is needed. */
export interface Exchange {
  /**
   * Asks and waits for the answer until `deadlineMs` of host time (milliseconds), over as many connections as it
   * takes; each gets the same signed request.
   * @param sign called once, when a reply would be heard: a request is dated when it is sent
   */
  ask(sign: () => Promise<SignedRequest>, deadlineMs: number): Promise<Answer>
  close(): void
}

export function createExchange(options: DeviceLinkOptions): Exchange {
  return createExchangeOver(options.clock, () => openDeviceLink(options))
}

/** The same over links of any kind; `open` dials one. */
export function createExchangeOver(clock: Clock, open: () => DeviceLink): Exchange {
  let link: DeviceLink | null = null
  let closed = false

  const current = (): DeviceLink => {
    if (link === null || !link.isOpen()) link = open()
    return link
  }

  return {
    async ask(sign, untilMs) {
      let deadlineMs = untilMs
      let asked: SignedRequest | null = null
      let why = 'the relay could not be reached in time'
      for (;;) {
        const leftMs = deadlineMs - clock.nowMs()
        if (leftMs <= 0 || closed) return { heard: 'silence', why, lost: true }
        const connection = current()
        const live = await within(clock, connection.live, leftMs)
        if (live?.ok === true) {
          const startedMs = clock.nowMs()
          asked ??= await sign()
          // A person may have to agree to a signature: that time is nobody's silence.
          deadlineMs += Math.max(0, clock.nowMs() - startedMs)
          const answer = await connection.ask(asked, Math.max(0, deadlineMs - clock.nowMs()))
          if (answer.heard === 'reply' || !answer.lost) return answer
          why = answer.why
        } else if (live !== null) {
          why = live.why
        }
        connection.close()
        await pause(clock, Math.max(0, Math.min(deviceRetryMs, deadlineMs - clock.nowMs())))
      }
    },
    close() {
      closed = true
      link?.close()
    },
  }
}

/** What `promise` gives, or null after `ms` milliseconds. */
async function within<T>(clock: Clock, promise: Promise<T>, ms: number): Promise<T | null> {
  let cancel = (): void => {}
  const timeout = new Promise<null>((resolve) => {
    cancel = clock.after(ms, () => resolve(null)).cancel
  })
  const first = await Promise.race([promise, timeout])
  cancel()
  return first
}
