import type { Sent } from './device.ts'
import type { OutboxEntry } from './outbox.ts'

/** How an entry of the outbox stands, as it is shown. */
export function sentOf(entry: OutboxEntry): Sent {
  const { id, kind, task, queued_at } = entry
  const head = { id, kind, task, queued_at }
  if (entry.state === 'undecided') return { ...head, state: 'unknown', why: entry.why }
  // An entry that was refused always has its code; without one it could not be told from an accepted one.
  if (entry.state === 'accepted' || entry.code === null) return { ...head, state: 'accepted' }
  return { ...head, state: 'refused', code: entry.code, missing: entry.missing }
}
