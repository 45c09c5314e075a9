import { standsNow } from '../../src/bridge/access/principal.ts'
import type { AccessRecord } from '../../src/bridge/access/record.ts'
import type { Entry } from '../../src/commands/journal-entry.ts'
import { leaseSeconds } from '../../src/limits.ts'
import type { QueueView } from '../../src/protocol/outcomes.ts'

/** What is checked at the very moment at which an effect is handed to the task store. */
export interface EffectWatch {
  /**
   * A lease is asked for: after a step back of the clock it may end earlier than the one before, even if nobody hears.
   * @returns what `leased` is to be given
   */
  asking(task: string, now: number): number
  /**
   * A lease was acknowledged: from now on nothing of this task's queue may run, but for what was dispatched before.
   * Nothing follows from it when a release was under way at any time since the lease was asked for.
   */
  leased(task: string, view: QueueView, around: { entries: readonly Entry[]; releases: number }): void
  /** A release begins: the lease may be gone from now on. The function to be called at its end. */
  releasing(task: string): () => void
  /** Time went on: a lease that lapsed is over, even if the clock steps back. */
  timeIs(now: number): void
  /** The host died, and what was under way with it. */
  died(): void
  /** @param entry whose effect it is, as the journal has it; @param known the store has these bytes already */
  applying(
    entry: Entry,
    action: string,
    around: { record: AccessRecord; now: number; known: boolean },
  ): string | null
}

interface Held {
  readonly until: number
  readonly excused: ReadonlySet<string>
}

/** Watches leases and standing. `applying` gives the name of the invariant that does not hold, or null. */
export function watchEffects(): EffectWatch {
  const leases = new Map<string, Held>()
  const open = new Map<string, Set<object>>()
  let begun = 0
  return {
    asking(task, now) {
      const held = leases.get(task)
      if (held !== undefined) leases.set(task, { ...held, until: Math.min(held.until, now + leaseSeconds) })
      return begun
    },
    leased(task, view, { entries, releases }) {
      if (releases !== begun || (open.get(task)?.size ?? 0) > 0) return
      const over = entries.filter(({ state }) => state.state === 'dispatching' || state.state === 'done')
      const excused = new Set(over.map((entry) => entry.request.command))
      leases.set(task, { until: view.lease?.expires_at ?? 0, excused })
    },
    releasing(task) {
      leases.delete(task)
      begun += 1
      const release = {}
      const ofTask = open.get(task) ?? new Set()
      open.set(task, ofTask.add(release))
      return () => void ofTask.delete(release)
    },
    timeIs(now) {
      for (const [task, { until }] of leases) if (until <= now) leases.delete(task)
    },
    died: () => open.clear(),
    applying(entry, action, { record, now, known }) {
      if (known) return null
      if (!standsNow(record, entry.sender, now)) return 'a revoked sender has no effect'
      const held = leases.get(entry.request.task)
      const waits = entry.request.kind === 'queue' && entry.promoted !== true && action === 'continue'
      const isHeldBack = held !== undefined && now < held.until && !held.excused.has(entry.request.command)
      return waits && isHeldBack ? 'no message runs while a device holds the lease' : null
    },
  }
}
