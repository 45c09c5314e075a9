import { relayInformationRetrySeconds, relayInformationSeconds } from '../limits.ts'
import { limitNotes, noLimits, parseRelayLimits, type RelayLimits } from '../protocol/relay-limits.ts'
import type { Clock } from '../seams/clock.ts'
import type { AskRelayInformation } from '../seams/relay-information.ts'

/** What is known of a relay beside its connections. */
export interface RelayKnowledge {
  /** Asks the relay again, unless it said something within the hour or kept silent within the last minutes. */
  refresh(): void
  /** What the relay says that it takes, as last heard; `noLimits` before. */
  limits(): RelayLimits
  /** What a person should know, or null. */
  note(): string | null
}

/**
 * A relay's information document, as far as it can be had. One that is missing, late, too long or unreadable changes
 * nothing: what was known stays, and a note says so.
 * @see spec/wire.md §8
 */
export function createRelayKnowledge(
  url: string,
  clock: Clock,
  ask: AskRelayInformation | undefined,
): RelayKnowledge {
  let limits = noLimits
  let note: string | null = null
  let nextMs = Number.NEGATIVE_INFINITY

  const refresh = async (ask: AskRelayInformation): Promise<void> => {
    const document = await ask(url)
    const read = document.ok ? parseRelayLimits(document.text) : null
    if (read !== null) {
      limits = read
      note = limitNotes(read).join('; ') || null
      nextMs = clock.nowMs() + relayInformationSeconds * 1000
    } else {
      note = `no information document: ${document.ok ? 'it does not read' : document.reason}`
    }
  }

  return {
    refresh() {
      const waitMs = nextMs - clock.nowMs()
      // A clock that was set back is no reason to wait for longer.
      if (ask === undefined || (waitMs > 0 && waitMs <= relayInformationSeconds * 1000)) return
      nextMs = clock.nowMs() + relayInformationRetrySeconds * 1000
      refresh(ask).catch(() => {
        note = 'no information document: it could not be asked for'
      })
    },
    limits: () => limits,
    note: () => note,
  }
}
