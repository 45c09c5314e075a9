import { summariesAsked, summarySecondsMax } from '../limits.ts'
import type { Access } from '../protocol/bodies/access.ts'
import type { Grant } from '../protocol/bodies/grant.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { parseInvitation } from '../protocol/invitation.ts'
import { summaryMailbox } from '../protocol/mailbox.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { Filter } from '../protocol/relay-frames.ts'
import { checkRelayUrl } from '../protocol/relay-url.ts'
import { localSealer, type Sealer } from '../protocol/sealer.ts'
import { nowSeconds } from '../seams/clock.ts'
import { type ApprovalTerms, acceptApproval, awaitApproval } from './accept.ts'
import { type Asker, deviceAsker } from './asker.ts'
import { type Contact, openContact } from './contact.ts'
import type { DeviceOptions, Whoami } from './device.ts'
import { createExchange, type Exchange } from './exchange.ts'
import { type HeldAccess, openHeldAccess } from './held-access.ts'
import { createHostEars, type HostEars } from './host-ears.ts'
import type { Identity } from './identity.ts'
import { sealNudge } from './nudge.ts'
import { type Outbox, openOutbox } from './outbox.ts'
import { redeemInvitation } from './redeem.ts'
import { renewalWindows } from './renewal-search.ts'

/** What a device has while it is paired: whom it asks and how, its host's ear and its outbox. */
export interface Paired {
  readonly asker: Asker
  /** What opens the enrollments that are sent to whoever may approve them, and whose authority they must serve. */
  readonly sealer: Sealer
  readonly owner: string
  readonly exchange: Exchange
  readonly outbox: Outbox
  /** What the host says without being asked. */
  readonly listen: HostEars['listen']
  /** Asks the host, where a relay is at hand, to show itself; at most every 30 s. */
  nudge(): Promise<void>
}

/** A device's bond with one host. */
export interface Pairing {
  /** Refuses `forbidden` when there is none. */
  paired(): Paired
  whoami(): Promise<Whoami>
  redeem(code: string): Promise<void>
  /** Takes the grant of an approval: the one that is given, or the one that the host publishes within `waitMs`. */
  accept(wanted: ApprovalTerms, given: NostrEvent | null, waitMs: number): Promise<void>
  close(): void
}

/** Reads the saved access, if any. */
export async function openPairing(
  options: DeviceOptions,
  identity: Identity,
  waitMs: number,
): Promise<Pairing> {
  const { disk, dir, policy, clock, random } = options
  const held = await openHeldAccess({ ...options, identity })
  const contact = await openContact(disk, dir)
  let line: Line | null = null
  const drop = (): void => {
    line?.exchange.close()
    line = null
  }
  const take = async (next: Access): Promise<void> => {
    await held.replace(next)
    drop()
  }

  const latest = async (): Promise<Access> => (await held.latest()) ?? unpaired()
  const access = (): Access => held.known() ?? unpaired()
  const speak = ({ grant }: Access) => contact.speak(grant, nowSeconds(clock))
  const asker = deviceAsker({ ...options, identity, access, latest, speak })
  const sealer = localSealer(identity.signer, identity.keys, random)

  const nudge = async ({ exchange }: Line): Promise<void> => {
    const now = nowSeconds(clock)
    if (!exchange.isLive() || !(await contact.mayNudge(now))) return
    await speak(access())
    exchange.tell(sealNudge(identity, access().grant.host, now, random))
  }

  return {
    paired() {
      const { grant } = access()
      line ??= openLine(options, identity, { grant, held, contact })
      const here = line
      const { exchange, ears } = here
      const outbox = openOutbox(disk, dir, grant.host)
      const nudged = () => nudge(here)
      return { asker, sealer, owner: grant.owner, exchange, outbox, listen: ears.listen, nudge: nudged }
    },
    whoami: async () => whoamiOf(identity, await held.latest()),
    async redeem(code) {
      const { host } = parseInvitation(code.trim(), policy)
      const before = held.known()
      if (before !== null && before.grant.host !== host) {
        throw new Refusal('conflict', 'this device is paired with another host already', {
          hint: 'give this pairing a directory of its own: --state DIR',
        })
      }
      await take(await redeemInvitation(code, { ...options, identity, waitMs }))
    },
    async accept(wanted, given, acceptMs) {
      checkRelayUrl(wanted.relay, policy)
      const terms = { ...wanted, identity, policy, now: nowSeconds(clock) }
      const before = held.known()
      const next =
        given === null
          ? await awaitApproval(options, identity, { ...wanted, held: before, waitMs: acceptMs })
          : acceptApproval(given, before, terms)
      await take(next)
    },
    close: drop,
  }
}

/** The connection to one host, and what comes over it. */
interface Line {
  readonly exchange: Exchange
  readonly ears: HostEars
}

function openLine(
  options: DeviceOptions,
  identity: Identity,
  { grant, held, contact }: { grant: Grant; held: HeldAccess; contact: Contact },
): Line {
  const { host, relay } = grant
  const { clock, policy } = options
  const ears = createHostEars({ identity, host, policy, clock, other: held.offer })
  const wanted = (): readonly Filter[] => {
    const now = nowSeconds(clock)
    const current = held.known()?.grant ?? grant
    const windows = renewalWindows(current, contact.spokenUnder(current), now)
    return ears.wantsSummaries() ? [summariesSince(identity.keys.get(host), now), ...windows] : windows
  }
  return { ears, exchange: createExchange({ ...options, identity, host, relay, ears: ears.ears, wanted }) }
}

/** The summaries that the relay may hold. @see spec/wire.md §5 */
function summariesSince(conversationKey: Uint8Array, now: number): Filter {
  const since = Math.max(0, now - summarySecondsMax)
  return { '#h': [summaryMailbox(conversationKey)], since, limit: summariesAsked }
}

function unpaired(): never {
  const hint = 'make an invitation on the host (drawbridge invite), then: drawbridge device redeem CODE'
  throw new Refusal('forbidden', 'this device is not paired with a host', { hint })
}

function whoamiOf({ signer }: Identity, access: Access | null): Whoami {
  if (access === null) return { device: signer.publicKey, paired: null }
  const { host, owner, relay, rights, epoch, grant, issued_at, expires_at } = access.grant
  return {
    device: signer.publicKey,
    paired: { host, owner, relay, rights, epoch, grant, issued_at, expires_at },
  }
}
