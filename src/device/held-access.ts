import { join } from 'node:path'
import { noGrantsKnownMax, storeWaitMs } from '../limits.ts'
import type { Access } from '../protocol/bodies/access.ts'
import type { Grant } from '../protocol/bodies/grant.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { isRefusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { verifyEvent } from '../protocol/signer.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { Disk, FileIdentity } from '../seams/disk.ts'
import { readAuthorization, renews } from './authorization.ts'
import { type Identity, readAccess, writeAccess } from './identity.ts'
import { knownIds } from './known-ids.ts'

export interface HeldAccessDeps {
  readonly disk: Disk
  readonly dir: string
  readonly clock: Clock
  readonly policy: RelayPolicy
  readonly identity: Identity
}

/** The access record of a state directory, which several processes may share. */
export interface HeldAccess {
  /** As this process knows it; null when it was never paired. */
  known(): Access | null
  /** The same once every renewal that was offered is saved, and with what other processes saved meanwhile. */
  latest(): Promise<Access | null>
  /** Takes what `event` brings if it renews the grant; it is saved before it is used. Anything else is ignored. */
  offer(event: NostrEvent): void
  /** Saves a record in place of any other: a redemption, or a grant that was accepted. */
  replace(next: Access): Promise<void>
}

/** Reads the saved record, if any. Refuses as `readAccess` does. */
export async function openHeldAccess(deps: HeldAccessDeps): Promise<HeldAccess> {
  const { disk, dir, policy } = deps
  const path = join(dir, 'access.json')
  let seen = await disk.identity(path)
  let held = await readAccess(disk, dir, policy)
  let saving: Promise<void> = Promise.resolve()
  // A relay gives its history with every connection, and most of it is answers.
  const noGrants = knownIds(noGrantsKnownMax)

  const locked = async (change: (saved: Access | null) => Access | null): Promise<void> => {
    const lock = await disk.lock(join(dir, 'access.lock'), storeWaitMs, { create: true })
    try {
      const saved = await readAccess(disk, dir, policy)
      const next = change(saved)
      if (next !== null) await writeAccess(disk, dir, next)
      seen = await disk.identity(path)
      held = next ?? adopted(saved, held)
    } finally {
      await lock.release()
    }
  }

  return {
    known: () => held,
    async latest() {
      await saving
      const now = await disk.identity(path)
      if (isSame(now, seen)) return held
      const saved = await readAccess(disk, dir, policy)
      seen = now
      held = adopted(saved, held)
      return held
    },
    offer(event) {
      if (held === null || noGrants.has(event.id)) return
      const next = readRenewal(event, held.grant, deps, () => noGrants.add(event.id))
      if (next === null) return
      // Whoever saved last decides what this may renew. Unsaved it is not used: the old grant is still good.
      const save = () =>
        locked((saved) => (saved !== null && renews(next.grant, saved.grant) ? next : null)).catch(() => {})
      saving = saving.then(save)
    },
    replace(next) {
      noGrants.clear()
      return locked(() => next)
    },
  }
}

/**
 * The renewed access that `event` brings, or null when it brings none that this device may take.
 * @param never called when it never will
 */
function readRenewal(event: NostrEvent, held: Grant, deps: HeldAccessDeps, never: () => void): Access | null {
  const { clock, identity, policy } = deps
  const { host, relay } = held
  try {
    const next = readAuthorization(event, { identity, host, relay, now: nowSeconds(clock), policy })
    return renews(next.grant, held) ? next : null
  } catch (error) {
    if (!isRefusal(error)) throw error
    // What time makes of a grant may change with the clock.
    const isTimely = error.code !== 'stale' && error.code !== 'expired'
    if (isTimely && verifyEvent(event)) never()
    return null
  }
}

/** What another process saved, unless it is of another host or relay: that is another connection's. */
function adopted(saved: Access | null, held: Access | null): Access | null {
  if (saved === null || held === null) return saved ?? held
  const reachesTheSame = saved.grant.host === held.grant.host && saved.grant.relay === held.grant.relay
  return reachesTheSame ? saved : held
}

function isSame(one: FileIdentity | null, other: FileIdentity | null): boolean {
  if (one === null || other === null) return one === other
  return one.ino === other.ino && one.mtimeNs === other.mtimeNs && one.size === other.size
}
