import { outboxAgainSeconds, presenceStaleSeconds } from '../limits.ts'
import type { ActivitySummary } from '../protocol/bodies/activity-summary.ts'
import { type Clock, nowSeconds, type Timer } from '../seams/clock.ts'
import type { DeviceState } from './ask.ts'
import { isStale, type Sign } from './presence.ts'
import { promised } from './promised.ts'
import { flush } from './sends.ts'

/** What one who stays wants to be told. */
export interface Attention {
  /** After an entry of the outbox was decided, and after each sending that came to its end. */
  sent?(): void
  /** Every genuine summary; stored ones of the last days first, in no order. */
  summary?(summary: ActivitySummary): void
  /** A connection is live: everything stored was heard. */
  live?(): void
  /** The host showed itself, or has not for three minutes. */
  host?(is: 'here' | 'stale'): void
}

/**
 * Keeps a connection to the host until `signal` aborts, and sends what waits whenever that may help: when a connection
 * becomes live, on each presence newer than all before, on a nudge of the host, and once a minute. A sending that is
 * under way at the end goes on until the device is closed. What a sending refuses, it refuses.
 * @see spec/wire.md §5
 */
export async function attend(state: DeviceState, attention: Attention, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { exchange, outbox, listen } = state.pairing.paired()
  const { clock } = state.options
  const over = promised<unknown>()
  const sending = sendAgain(clock, over.resolve, async (afresh) => {
    const waits = async () => (await outbox.entries()).some((entry) => entry.state === 'undecided')
    if (await waits()) await flush(state, { afresh, changed: () => attention.sent?.() })
    attention.sent?.()
    return waits()
  })
  const watch = hostWatch(clock, (is) => attention.host?.(is))
  const { summary } = attention
  const forget = listen({
    presence(sign) {
      watch.seen(sign)
      if (!isStale(sign, nowSeconds(clock))) sending.now(true)
    },
    nudged: () => sending.now(true),
    live() {
      attention.live?.()
      sending.now(false)
    },
    ...(summary === undefined ? {} : { summary }),
  })
  const release = exchange.keep()
  // Owners hear nothing by themselves, and another process may send: a first look at what waits needs no connection.
  sending.now(false)
  signal.addEventListener('abort', () => over.resolve(null), { once: true })
  const failure = await over.promise
  release()
  forget()
  watch.close()
  sending.close()
  if (failure !== null) throw failure
}

/**
 * One sending at a time; what is asked for meanwhile comes after it, and again every minute while something waits.
 * What may have changed the host's mind asks for it afresh.
 */
function sendAgain(
  clock: Clock,
  failed: (error: unknown) => void,
  send: (afresh: boolean) => Promise<boolean>,
): { now(afresh: boolean): void; close(): void } {
  let going = false
  let asked: 'no' | 'again' | 'afresh' = 'no'
  let closed = false
  let timer: Timer | null = null

  const stopTimer = (): void => {
    timer?.cancel()
    timer = null
  }
  const run = async (): Promise<void> => {
    try {
      while (asked !== 'no' && !closed) {
        const afresh = asked === 'afresh'
        asked = 'no'
        if (!(await send(afresh))) stopTimer()
        else if (!closed) timer ??= clock.after(outboxAgainSeconds * 1000, afreshNow)
      }
    } catch (error) {
      failed(error)
    }
    going = false
  }
  const now = (afresh: boolean): void => {
    if (asked !== 'afresh') asked = afresh ? 'afresh' : 'again'
    if (closed || going) return
    going = true
    void run()
  }
  const afreshNow = (): void => {
    timer = null
    now(true)
  }
  return {
    now,
    close() {
      closed = true
      stopTimer()
    },
  }
}

/** Says when the host shows itself, and when it has not for too long. */
function hostWatch(
  clock: Clock,
  say: (is: 'here' | 'stale') => void,
): { seen(sign: Sign): void; close(): void } {
  let said: 'here' | 'stale' | null = null
  let timer: Timer | null = null
  const tell = (is: 'here' | 'stale'): void => {
    if (said !== is) say(is)
    said = is
  }
  return {
    seen(sign) {
      timer?.cancel()
      const leftSeconds = sign.observedAt + presenceStaleSeconds + 1 - nowSeconds(clock)
      tell(leftSeconds > 0 ? 'here' : 'stale')
      if (leftSeconds > 0) timer = clock.after(leftSeconds * 1000, () => tell('stale'))
    },
    close: () => timer?.cancel(),
  }
}
