import type { Sent } from './device.ts'
import type { OutboxEntry } from './outbox.ts'

/** How the entries of the outbox stand, as they are shown. Behind the first without an answer all others wait. */
export function standings(entries: readonly OutboxEntry[]): readonly Sent[] {
  const first = entries.find(({ state }) => state === 'undecided')
  return entries.map((entry) => sentOf(entry, first))
}

function sentOf(entry: OutboxEntry, first: OutboxEntry | undefined): Sent {
  const { id, kind, task, queued_at } = entry
  const head = { id, kind, task, queued_at }
  if (entry.state === 'undecided') return { ...head, state: 'unknown', why: whyOf(entry.why, entry, first) }
  // An entry that was refused always has its code; without one it could not be told from an accepted one.
  if (entry.state === 'accepted' || entry.code === null) return { ...head, state: 'accepted' }
  return { ...head, state: 'refused', code: entry.code, missing: entry.missing }
}

function whyOf(own: string, entry: OutboxEntry, first: OutboxEntry | undefined): string {
  if (first === undefined || first.state !== 'undecided' || first.id === entry.id) return own
  return `it waits behind an earlier ${first.kind}, ${first.id.slice(0, 12)}: ${first.why}`
}
