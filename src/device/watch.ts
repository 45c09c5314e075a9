import type { ActivitySummary } from '../protocol/bodies/activity-summary.ts'
import { isRefusal } from '../protocol/refusal.ts'
import { nowSeconds } from '../seams/clock.ts'
import type { DeviceState } from './ask.ts'
import { type Attention, attend } from './attend.ts'
import type { Outbox } from './outbox.ts'
import { newestOf, openSummaries, type Summaries } from './summaries.ts'

/** One who watches the tasks of a host. */
export interface Watcher extends Pick<Attention, 'host'> {
  /** How a task stands now: first each of the last seven days, then every change. Older ones of a task never come. */
  told(summary: ActivitySummary): void
}

/**
 * Tells how the tasks of the host stand, and then each change as it comes, until `signal` aborts. What waits in the
 * outbox is sent meanwhile. What is told counts as seen for the next command.
 * @see spec/wire.md §5
 */
export async function watch(state: DeviceState, watcher: Watcher, signal: AbortSignal): Promise<void> {
  const { options, pairing } = state
  const { asker, outbox } = pairing.paired()
  const summaries = openSummaries(options.disk, options.dir, asker.to().host)
  const known = new Map<string, number>()
  let heard: ActivitySummary[] = []
  let live = false
  let telling: Promise<void> = Promise.resolve()

  const tell = (some: readonly ActivitySummary[]): readonly ActivitySummary[] => {
    const newest = newestOf(some, known)
    for (const summary of newest) {
      known.set(summary.subject.id, summary.sequence)
      watcher.told(summary)
    }
    return newest
  }
  const tellHeard = (): void => {
    const newest = tell(heard)
    heard = []
    const now = nowSeconds(options.clock)
    if (newest.length > 0) telling = telling.then(() => remember(newest, { summaries, outbox, now }))
  }

  tell(await summaries.all(nowSeconds(options.clock)))
  const attention: Attention = {
    summary(summary) {
      heard.push(summary)
      // Stored ones come newest first and are told once, in the order of their changes.
      if (live) tellHeard()
    },
    live() {
      live = true
      tellHeard()
    },
    host: (is) => watcher.host?.(is),
  }
  await attend(state, attention, signal)
  await telling
}

/** Keeps what was told. The relay has it too: what cannot be kept is only asked for again. */
async function remember(
  told: readonly ActivitySummary[],
  { summaries, outbox, now }: { summaries: Summaries; outbox: Outbox; now: number },
): Promise<void> {
  try {
    await summaries.keep(told, now)
    for (const { subject, sequence } of told) {
      const seen = await outbox.seen(subject.id)
      if (sequence > (seen?.revision ?? -1))
        await outbox.see([{ task: subject.id, revision: sequence, workspace: null }])
    }
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
}
