import { nudgesKnownMax } from '../limits.ts'
import type { ActivitySummary } from '../protocol/bodies/activity-summary.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { Ears } from './host-mail.ts'
import type { Identity } from './identity.ts'
import { knownIds } from './known-ids.ts'
import { isNudge } from './nudge.ts'
import { isAcceptable, isNewer, type Sign } from './presence.ts'
import { readSummary } from './summary.ts'

/** One who wants to know what the host says without being asked. Everything is genuine by then. */
export interface Listener {
  /** A presence that this device accepts, newer than all before. */
  presence?(sign: Sign): void
  /** A nudge that was not heard before. */
  nudged?(): void
  /** Any summary, older ones too; stored ones come newest first. */
  summary?(summary: ActivitySummary): void
  /** A connection became live: everything stored was heard. */
  live?(): void
}

/** What all connections to one host hear, checked, for all who listen. */
export interface HostEars {
  readonly ears: Ears
  /** Returns the end of the listening. */
  listen(listener: Listener): () => void
  wantsSummaries(): boolean
}

/** @param other what may be a renewed grant */
export function createHostEars(deps: {
  identity: Identity
  host: string
  policy: RelayPolicy
  clock: Clock
  other: NonNullable<Ears['other']>
}): HostEars {
  const listeners = new Set<Listener>()
  const nudges = knownIds(nudgesKnownMax)
  let newest: Sign | null = null
  const wantsSummaries = () => [...listeners].some((listener) => listener.summary !== undefined)
  const terms = () => ({ ...deps, now: nowSeconds(deps.clock) })
  const tell = (how: (listener: Listener) => void): void => {
    for (const listener of [...listeners]) how(listener)
  }
  return {
    ears: {
      presence(sign) {
        if (!isAcceptable(sign) || !isNewer(sign, newest)) return
        newest = sign
        tell((listener) => listener.presence?.(sign))
      },
      nudge(event) {
        // One that was heard is known by its ID, whatever it is dated.
        if (nudges.has(event.id) || !isNudge(event, terms())) return
        nudges.add(event.id)
        tell((listener) => listener.nudged?.())
      },
      summary(event) {
        const summary = wantsSummaries() ? readSummary(event, terms()) : null
        if (summary !== null) tell((listener) => listener.summary?.(summary))
      },
      other: deps.other,
      live: () => tell((listener) => listener.live?.()),
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    wantsSummaries,
  }
}
