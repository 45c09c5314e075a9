import type { Access } from '../protocol/bodies/access.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { parseInvitation } from '../protocol/invitation.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { checkRelayUrl } from '../protocol/relay-url.ts'
import { localSealer, type Sealer } from '../protocol/sealer.ts'
import { nowSeconds } from '../seams/clock.ts'
import { type ApprovalTerms, acceptApproval, awaitApproval } from './accept.ts'
import { type Asker, deviceAsker } from './asker.ts'
import { readAuthorization, renews } from './authorization.ts'
import type { DeviceOptions, Whoami } from './device.ts'
import { createExchange, type Exchange } from './exchange.ts'
import { type Identity, readAccess, writeAccess } from './identity.ts'
import { type Outbox, openOutbox } from './outbox.ts'
import { redeemInvitation } from './redeem.ts'

/** What a device has while it is paired: whom it asks and how, its host's ear and its outbox. */
export interface Paired {
  readonly asker: Asker
  /** What opens the enrollments that are sent to whoever may approve them, and whose authority they must serve. */
  readonly sealer: Sealer
  readonly owner: string
  readonly exchange: Exchange
  readonly outbox: Outbox
}

/** A device's bond with one host. */
export interface Pairing {
  /** Refuses `forbidden` when there is none. */
  paired(): Paired
  whoami(): Whoami
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
  const { disk, dir, policy } = options
  let access = await readAccess(disk, dir, policy)
  let exchange: Exchange | null = null

  const connect = ({ grant }: Access): Exchange => {
    const onOther = (event: NostrEvent): void => {
      const renewed = access === null ? null : readRenewal(event, access, options, identity)
      if (renewed === null) return
      access = renewed
      // If this save fails the old grant is still good until its own expiry, and the host renews again.
      writeAccess(disk, dir, renewed).catch(() => {})
    }
    return createExchange({ ...options, identity, host: grant.host, relay: grant.relay, onOther })
  }

  return {
    paired() {
      const held = access
      if (held === null) {
        const hint = 'make an invitation on the host (drawbridge invite), then: drawbridge device redeem CODE'
        throw new Refusal('forbidden', 'this device is not paired with a host', { hint })
      }
      exchange ??= connect(held)
      const asker = deviceAsker({ ...options, identity, access: () => access ?? held })
      const sealer = localSealer(identity.signer, identity.keys, options.random)
      const outbox = openOutbox(disk, dir, held.grant.host)
      return { asker, sealer, owner: held.grant.owner, exchange, outbox }
    },
    whoami: () => whoamiOf(identity, access),
    async redeem(code) {
      const { host } = parseInvitation(code.trim(), policy)
      if (access !== null && access.grant.host !== host) {
        throw new Refusal('conflict', 'this device is paired with another host already', {
          hint: 'give this pairing a directory of its own: --state DIR',
        })
      }
      const next = await redeemInvitation(code, { ...options, identity, waitMs })
      await writeAccess(disk, dir, next)
      access = next
      exchange?.close()
      exchange = null
    },
    async accept(wanted, given, acceptMs) {
      checkRelayUrl(wanted.relay, policy)
      const terms = { ...wanted, identity, policy, now: nowSeconds(options.clock) }
      const next =
        given === null
          ? await awaitApproval(options, identity, { ...wanted, held: access, waitMs: acceptMs })
          : acceptApproval(given, access, terms)
      await writeAccess(disk, dir, next)
      access = next
      exchange?.close()
      exchange = null
    },
    close: () => exchange?.close(),
  }
}

/** The renewed access that `event` brings, or null when it brings none that this device may take. */
function readRenewal(
  event: NostrEvent,
  held: Access,
  options: DeviceOptions,
  identity: Identity,
): Access | null {
  const { clock, policy } = options
  const { host, relay } = held.grant
  try {
    const next = readAuthorization(event, { identity, host, relay, now: nowSeconds(clock), policy })
    return renews(next.grant, held.grant) ? next : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

function whoamiOf({ signer }: Identity, access: Access | null): Whoami {
  if (access === null) return { device: signer.publicKey, paired: null }
  const { host, owner, relay, rights, epoch, grant, issued_at, expires_at } = access.grant
  return {
    device: signer.publicKey,
    paired: { host, owner, relay, rights, epoch, grant, issued_at, expires_at },
  }
}
