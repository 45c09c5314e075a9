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
  /** Signs a request under this request ID, dated now. Refuses as `requestBody` does. */
  sign(op: Operation, request: string): Promise<SignedRequest>
}

export interface AskerDeps {
  readonly identity: Identity
  readonly access: () => Access
  readonly clock: Clock
  readonly random: Random
  readonly policy: RelayPolicy
}

/** A device asks under the grant that it holds at that moment. */
export function deviceAsker({ identity, access, clock, random, policy }: AskerDeps): Asker {
  const to = (): Addressee => {
    const { grant } = access()
    return { host: grant.host, relay: grant.relay, grant }
  }
  return {
    publicKey: identity.signer.publicKey,
    to,
    sign: async (op, request) =>
      signRequest({ identity, to: to(), op, request, now: nowSeconds(clock), random, policy }),
  }
}
