import { renewalAgainSeconds, renewalRetrySeconds } from '../limits.ts'
import { nowSeconds } from '../seams/clock.ts'
import { addRenewal } from './access/grants.ts'
import type { AccessRecord, GrantEntry } from './access/record.ts'
import { lineAfter, renewalOf } from './access/renewal.ts'
import { type Log, reasonOf } from './log.ts'
import { makeGrant } from './make-grant.ts'
import type { GrantingContext } from './operations/context.ts'
import { tellGrant } from './operations/enrollments.ts'
import { recently } from './recently.ts'

/** Keeps devices that go on being heard from losing their access. */
export interface Renewals {
  /** A device was heard under a grant: renews it when it is time to. Returns at once. */
  heard(grant: string): void
  /** Resolves when nothing is being renewed any more. */
  close(): Promise<void>
}

/**
 * Renews each grant once, saving before telling. While a device keeps using the old grant, its renewal is told again, at
 * most every 300 s; a renewal that could not be saved is tried again the next time its device is heard.
 * @see spec/wire.md §7
 */
export function createRenewals(context: GrantingContext, log: Log): Renewals {
  const { clock, book } = context
  const mayTry = recently(clock, renewalRetrySeconds)
  const mayTell = recently(clock, renewalAgainSeconds)
  const running = new Map<string, Promise<void>>()

  const tell = (entry: GrantEntry): void => {
    if (mayTell(entry.grant.grant)) tellGrant(context, entry)
  }

  const renew = async (grant: string): Promise<void> => {
    try {
      const entry = await book.change((record, now) => {
        const found = renewalOf(record, grant, now)
        if (found.kind !== 'due') return { record, value: found.kind === 'given' ? found.entry : null }
        const renewal = renewed(record, found.entry, now)
        return { record: addRenewal(record, renewal, now), value: renewal }
      })
      if (entry !== null) tell(entry)
    } catch (error) {
      log.warn('a grant could not be renewed', { reason: reasonOf(error) })
    }
  }

  const renewed = (record: AccessRecord, entry: GrantEntry, now: number): GrantEntry => {
    const { device, relay, rights, origin, issued_at, expires_at } = entry.grant
    const terms = { device, relay, rights, origin, expires_at: now + (expires_at - issued_at) }
    return { ...makeGrant(context, record, terms, now), renews: lineAfter(entry) }
  }

  return {
    heard(grant) {
      const found = renewalOf(book.read(), grant, nowSeconds(clock))
      if (found.kind === 'given') return tell(found.entry)
      if (found.kind === 'none' || running.has(grant) || !mayTry(grant)) return
      running.set(
        grant,
        renew(grant).finally(() => running.delete(grant)),
      )
    },
    async close() {
      await Promise.all(running.values())
    },
  }
}
