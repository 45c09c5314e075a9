import { queueItemsMax } from '../limits.ts'
import type { QueueView } from '../protocol/outcomes.ts'
import { type Entry, hasPriority, type Lease, textOf } from './journal-entry.ts'
import { isLive } from './leases.ts'
import { runOrder } from './queue-order.ts'

/** What `device` sees of a task's queue at `now`, Unix seconds. Pure. @see spec/commands.md §5, spec/wire.md §6 */
export function queueView(
  task: { readonly id: string; readonly revision: number },
  entries: readonly Entry[],
  lease: Lease | null,
  device: string,
  now: number,
): QueueView {
  const live = lease !== null && isLive(lease, now) ? lease : null
  return {
    task: task.id,
    revision: task.revision,
    lease: live === null ? null : { device: live.device, expires_at: live.expires_at },
    items: runOrder(entries)
      .slice(0, queueItemsMax)
      .map((entry) => itemFor(entry, device)),
  }
}

function itemFor(entry: Entry, device: string): QueueView['items'][number] {
  return {
    command: entry.request.command,
    device: entry.sender.device,
    text: entry.sender.device === device ? textOf(entry) : null,
    priority: hasPriority(entry),
  }
}
