import { historySeconds, subscriptionIdChars } from '../limits.ts'
import { artifactKind } from '../protocol/envelope.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import type { RelayLimits } from '../protocol/relay-limits.ts'
import { type Random, randomId } from '../seams/random.ts'

/** What decides what is asked for. Times are milliseconds of host time. */
export interface Listening {
  /** 64 hex. */
  readonly host: string
  readonly nowMs: number
  /** When the relay was last heard on a connection in service; null: never. */
  readonly heardMs: number | null
  readonly lifetimeSeconds: number
  readonly limits: RelayLimits
  /** What to ask for besides, after nobody listened for longer than a subscription lives. */
  readonly afterGap: (() => readonly Filter[]) | undefined
}

/**
 * What a subscription asks for: what was sent to the host lately, by its own clock. A request lives no longer than that,
 * so whatever is missed is over. What lives longer is asked for after a gap. As many filters as the relay takes.
 * @see spec/wire.md §8
 */
export function subscriptionFilters(listening: Listening): Filter[] {
  const { host, nowMs, heardMs, lifetimeSeconds, limits, afterGap } = listening
  const since = Math.floor(nowMs / 1000) - historySeconds
  const isGap = heardMs === null || nowMs - heardMs > lifetimeSeconds * 1000
  const filters: Filter[] = [{ kinds: [artifactKind], '#p': [host], since }]
  if (isGap) filters.push(...(afterGap?.() ?? []))
  return filters.slice(0, Math.max(1, limits.max_filters ?? filters.length))
}

/** A fresh name for a subscription, no longer than the relay takes. */
export function subscriptionId(random: Random, { max_subid_length }: RelayLimits): string {
  const chars = Math.min(subscriptionIdChars, max_subid_length ?? subscriptionIdChars)
  return randomId(random).slice(0, Math.max(1, chars))
}
