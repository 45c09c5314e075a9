import { leaseContendedSeconds, leaseSeconds } from '../limits.ts'
import type { Lease } from './journal-entry.ts'

/**
 * How long one device has held a task's lease without a break, and who else asked. It is only about fairness, so it
 * is not in the journal: after a restart the ten minutes count anew.
 */
export interface Contention {
  readonly holder: string
  /** When the holder took the lease, Unix seconds. */
  readonly since: number
  readonly asked: { readonly device: string; readonly at: number } | null
}

/** What comes of asking for a lease. */
export interface LeaseAnswer {
  /** The lease afterwards. */
  readonly lease: Lease
  readonly contention: Contention
  /** Whether it is the asker's; else the answer is `conflict`. */
  readonly granted: boolean
}

/**
 * Whether a lease still counts at `now`, Unix seconds. A lapsed one (`expires_at <= now`) does not, nor one that ends
 * later than any could: host time was set back since, and a queue would wait for as long.
 */
export function isLive(lease: Lease | null, now: number): boolean {
  return lease !== null && lease.expires_at > now && lease.expires_at <= now + 2 * leaseSeconds
}

/**
 * Takes or renews a lease for 60 s. Pure.
 *
 * A device that asks while another holds it is remembered for 60 s. Once the holder has held it for ten minutes, its
 * next renewal gives the lease to the device that asked, and is itself refused.
 * @param now host time, Unix seconds
 * @see spec/commands.md §5
 */
export function askLease(
  task: string,
  device: string,
  current: { readonly lease: Lease | null; readonly contention: Contention | null },
  now: number,
): LeaseAnswer {
  const { lease } = current
  const give = (to: string): Lease => ({ task, device: to, expires_at: now + leaseSeconds })
  if (lease === null || !isLive(lease, now)) {
    return { lease: give(device), contention: { holder: device, since: now, asked: null }, granted: true }
  }
  const contention = contentionOf(lease, current.contention, now)
  const asked = recent(contention.asked, now)
  if (lease.device !== device) {
    const first = asked !== null && asked.device !== lease.device ? asked : { device, at: now }
    const kept = first.device === device ? { device, at: now } : first
    return { lease, contention: { ...contention, asked: kept }, granted: false }
  }
  if (asked !== null && now - contention.since >= leaseContendedSeconds) {
    const next = { holder: asked.device, since: now, asked: { device, at: now } }
    return { lease: give(asked.device), contention: next, granted: false }
  }
  return { lease: give(device), contention: { ...contention, asked }, granted: true }
}

function contentionOf(lease: Lease, known: Contention | null, now: number): Contention {
  if (known !== null && known.holder === lease.device) return known
  return { holder: lease.device, since: now, asked: null }
}

function recent(asked: Contention['asked'], now: number): Contention['asked'] {
  return asked !== null && now - asked.at <= leaseSeconds ? asked : null
}
