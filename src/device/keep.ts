import { deviceRetryMs, reconnectMsMax } from '../limits.ts'
import type { Clock } from '../seams/clock.ts'
import type { HostLink } from './link.ts'
import { type Promised, promised } from './promised.ts'
import { within } from './within.ts'

/** Keeps a connection there for as long as anybody wants one. */
export interface Keeper {
  /** Returns the end of wanting it. */
  keep(): () => void
  isKeeping(): boolean
  /** Nobody wants it any more. */
  stop(): void
}

/** From the first who wants a connection to the last. One may begin before the one before it has seen its end. */
interface Stay {
  readonly end: Promised<void>
  over: boolean
}

/**
 * @param deps.begin called once, before a connection is held
 * @param deps.current the connection, dialled when there is none
 * @param deps.renew puts a new connection in its place once that is live, and only then ends the old one
 * @param deps.lifetimeMs after which a connection is renewed: a relay may forget a subscription and not say so
 * @see spec/wire.md §8
 */
export function createKeeper(deps: {
  clock: Clock
  begin(): Promise<void>
  current(): HostLink
  renew(): Promise<void>
  lifetimeMs: number
}): Keeper {
  const { clock, current, renew, lifetimeMs } = deps
  let wanted = 0
  let stay = newStay()
  let running: Promise<void> = Promise.resolve()

  const run = async (mine: Stay): Promise<void> => {
    const stop = mine.end.promise
    let failures = 0
    if (!mine.over) await deps.begin()
    while (!mine.over) {
      const link = current()
      const live = await Promise.race([link.live, stop])
      if (live === undefined) return
      if (live.ok) {
        failures = 0
        await within(clock, Promise.race([link.ended, stop]), lifetimeMs)
        if (mine.over) return
        if (link.isOpen()) await renew()
        else await within(clock, stop, deviceRetryMs)
      } else {
        failures += 1
        await within(clock, stop, Math.min(reconnectMsMax, deviceRetryMs * 2 ** Math.min(failures - 1, 30)))
      }
    }
  }

  return {
    keep() {
      wanted += 1
      if (wanted === 1) {
        const begun = newStay()
        stay = begun
        running = running.then(() => run(begun))
      }
      let mine = true
      return () => {
        if (!mine) return
        mine = false
        wanted -= 1
        if (wanted === 0) end(stay)
      }
    },
    isKeeping: () => wanted > 0,
    stop() {
      wanted = 0
      end(stay)
    },
  }
}

function newStay(): Stay {
  return { end: promised(), over: false }
}

function end(stay: Stay): void {
  stay.over = true
  stay.end.resolve()
}
