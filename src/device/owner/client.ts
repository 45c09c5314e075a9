import { join } from 'node:path'
import { deviceWaitMs, requestSecondsMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { checkRelayUrl } from '../../protocol/relay-url.ts'
import type { Sealer } from '../../protocol/sealer.ts'
import { deviceOf } from '../client.ts'
import type { Device, DeviceOptions } from '../device.ts'
import { createExchangeOver } from '../exchange.ts'
import { openOutbox } from '../outbox.ts'
import type { Paired, Pairing } from '../pairing.ts'
import { ownerAsker } from './asker.ts'
import { openOwnerLink } from './link.ts'
import { steadySigner } from './steady-signer.ts'

export interface OwnerOptions extends DeviceOptions {
  /** The owner's key, here or in a remote signer. */
  readonly sealer: Sealer
  /** The host whose owner asks, and the relay to ask over. */
  readonly host: string
  readonly relay: string
}

/**
 * The owner of a host, asking as a device does but without a grant. What is sent durably is kept in an outbox of the
 * owner's own, one for each host, under the state directory. Refuses `forbidden` for a relay that breaks the policy.
 * @see spec/wire.md §3
 */
export async function openOwner(options: OwnerOptions): Promise<Device> {
  const { disk, clock, host, relay, policy } = options
  const { sealer, why } = steadySigner(options.sealer)
  checkRelayUrl(relay, policy)
  const dir = join(options.dir, 'owner', host)
  await disk.makeDirectory(dir)
  const exchange = createExchangeOver(clock, () => openOwnerLink({ ...options, sealer }))
  const asker = ownerAsker({ ...options, sealer })
  const paired: Paired = {
    asker,
    sealer,
    owner: sealer.publicKey,
    exchange: {
      ...exchange,
      async ask(sign, deadlineMs) {
        const answer = await exchange.ask(sign, deadlineMs)
        const words = why()
        if (answer.heard === 'reply' || words === null) return answer
        return { ...answer, why: `${answer.why}: ${words}` }
      },
    },
    outbox: openOutbox(disk, dir, host),
    // A host shows itself to devices only.
    listen: () => () => {},
    nudge: async () => {},
  }
  const pairing: Pairing = {
    paired: () => paired,
    whoami: async () => ({ device: sealer.publicKey, paired: null }),
    redeem: () => Promise.reject(needsNone()),
    accept: () => Promise.reject(needsNone()),
    close: () => exchange.close(),
  }
  const waitMs = Math.min(options.waitMs ?? deviceWaitMs, (requestSecondsMax - 5) * 1000)
  return deviceOf({ options, pairing, waitMs })
}

function needsNone(): Refusal {
  return new Refusal('forbidden', 'the owner holds every right without a grant')
}
