import type { Access } from '../protocol/bodies/access.ts'
import type { Operation } from '../protocol/operations.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import type { Random } from '../seams/random.ts'
import type { Identity } from './identity.ts'
import { type Addressee, type SignedRequest, signRequest } from './request.ts'

/** Who asks a host: a device under its grant, or the owner. */
export interface Asker {
  /** 64 hex. */
  readonly publicKey: string
  /** Whom requests go to now, and under which grant. */
  to(): Addressee
  /** The same, once a grant that was just renewed can be used. */
  ready(): Promise<Addressee>
  /** Signs a request under this request ID, dated now. Refuses as `requestBody` does. */
  sign(op: Operation, request: string): Promise<SignedRequest>
}

export interface AskerDeps {
  readonly identity: Identity
  readonly access: () => Access
  /** The same once everything that may have changed it is settled. */
  readonly latest: () => Promise<Access>
  /** Notes that the device is about to speak under a grant. */
  readonly speak: (access: Access) => Promise<void>
  readonly clock: Clock
  readonly random: Random
  readonly policy: RelayPolicy
}

/** A device asks under the grant that it holds at that moment. */
export function deviceAsker(deps: AskerDeps): Asker {
  const { identity, access, latest, speak, clock, random, policy } = deps
  return {
    publicKey: identity.signer.publicKey,
    to: () => addressee(access()),
    ready: async () => addressee(await latest()),
    async sign(op, request) {
      const held = await latest()
      await speak(held)
      const terms = { identity, to: addressee(held), op, request, now: nowSeconds(clock), random, policy }
      return signRequest(terms)
    },
  }
}

function addressee({ grant }: Access): Addressee {
  return { host: grant.host, relay: grant.relay, grant }
}
