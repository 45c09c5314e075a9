import { artifactKind } from '../protocol/envelope.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import type { EventHead } from './rules.ts'

/**
 * Whether an event is what a filter asks for: every condition that is present must hold (NIP-01). `limit` is not
 * a condition.
 */
export function matchesFilter(filter: Filter, event: EventHead): boolean {
  if (filter.ids !== undefined && !filter.ids.includes(event.id)) return false
  if (filter.kinds !== undefined && !filter.kinds.includes(event.kind)) return false
  if (filter.authors !== undefined && !filter.authors.includes(event.pubkey)) return false
  if (filter.since !== undefined && event.created_at < filter.since) return false
  if (filter.until !== undefined && event.created_at > filter.until) return false
  return matchesTags(filter, event)
}

/** Whether a filter could match anything that this relay keeps; if not, its answer needs no authentication. */
export function couldMatch(filter: Filter): boolean {
  return filter.kinds === undefined || filter.kinds.includes(artifactKind)
}

function matchesTags(filter: Filter, event: EventHead): boolean {
  for (const [name, wanted] of Object.entries(filter)) {
    if (!name.startsWith('#') || !Array.isArray(wanted)) continue
    const values: readonly unknown[] = wanted
    const letter = name.slice(1)
    if (!event.tags.some((tag) => tag[0] === letter && values.includes(tag[1]))) return false
  }
  return true
}
