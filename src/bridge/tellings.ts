import type { Clock, Timer } from '../seams/clock.ts'

/** What one peer is still to be told of, by subject. */
export interface Tellings {
  /** There is news of a subject. */
  add(subject: string): void
  close(): void
}

export interface TellingBounds {
  /** A subject is told at most once in this time. */
  readonly everyMs: number
  /** How long to wait after a telling that did not arrive, and how old news may grow before nobody wants it. */
  readonly retryMs: number
  readonly giveUpMs: number
  /** So many are on their way at once; news of one that is on its way replaces it. */
  readonly onTheWayMax: number
}

/**
 * Tells subjects in the order in which there was news of them, within bounds, and only what is news when its turn
 * comes: a hundred changes of one subject in a second are one telling at the end of it.
 * @param tell tells of a subject as it is then; false: did not arrive, to be told again
 */
export function createTellings(
  clock: Clock,
  bounds: TellingBounds,
  tell: (subject: string) => Promise<boolean>,
): Tellings {
  /** Subjects, and since when there is news of them. */
  const news = new Map<string, number>()
  const notBefore = new Map<string, number>()
  const onTheWay = new Map<string, symbol>()
  let timer: Timer | null = null
  let closed = false

  const send = async (subject: string, since: number): Promise<void> => {
    const mine = Symbol(subject)
    onTheWay.set(subject, mine)
    notBefore.set(subject, clock.nowMs() + bounds.everyMs)
    const arrived = await tell(subject).catch(() => false)
    if (onTheWay.get(subject) !== mine) return
    onTheWay.delete(subject)
    if (!arrived && !news.has(subject) && clock.nowMs() - since < bounds.giveUpMs) {
      news.set(subject, since)
      notBefore.set(subject, clock.nowMs() + bounds.retryMs)
    }
    pump()
  }

  const pump = (): void => {
    timer?.cancel()
    timer = null
    if (closed) return
    const now = clock.nowMs()
    for (const [subject, at] of notBefore) if (at <= now) notBefore.delete(subject)
    for (const [subject, since] of [...news]) {
      if (notBefore.has(subject)) continue
      if (onTheWay.size >= bounds.onTheWayMax && !onTheWay.has(subject)) continue
      news.delete(subject)
      void send(subject, since)
    }
    const next = earliest(news.keys(), notBefore)
    if (next !== null) timer = clock.after(Math.max(1, next - now), pump)
  }

  return {
    add(subject) {
      if (closed) return
      news.set(subject, clock.nowMs())
      pump()
    },
    close() {
      closed = true
      timer?.cancel()
    },
  }
}

/** When the next piece of news may be told, of those that only wait for their time; milliseconds. */
function earliest(news: Iterable<string>, notBefore: ReadonlyMap<string, number>): number | null {
  let next: number | null = null
  for (const subject of news) {
    const at = notBefore.get(subject)
    if (at !== undefined && (next === null || at < next)) next = at
  }
  return next
}
