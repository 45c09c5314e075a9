import { ownerSignSecondsMax, ownerSignTriesMax, requestSecondsMax } from '../../limits.ts'
import type { Operation } from '../../protocol/operations.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { RelayPolicy } from '../../protocol/relay-url.ts'
import { type Sealer, sealBy } from '../../protocol/sealer.ts'
import { type Clock, nowSeconds } from '../../seams/clock.ts'
import type { Asker } from '../asker.ts'
import { signerField } from '../remote-signer/messages.ts'
import { requestBody, type SignedRequest } from '../request.ts'

export interface OwnerAskerDeps {
  /** The owner's key, here or in a remote signer. */
  readonly sealer: Sealer
  readonly host: string
  readonly relay: string
  readonly clock: Clock
  readonly policy: RelayPolicy
}

/**
 * The owner asks without a grant. A request that took too long to be signed is signed anew, a few times at most,
 * since a host answers none that is over; then it is `timeout`, and nothing was sent.
 * @see spec/wire.md §3, §5
 */
export function ownerAsker({ sealer, host, relay, clock, policy }: OwnerAskerDeps): Asker {
  const to = { host, relay, grant: null }
  return {
    publicKey: sealer.publicKey,
    to: () => to,
    ready: async () => to,
    async sign(op, request) {
      for (let tries = 1; tries <= ownerSignTriesMax; tries += 1) {
        const now = nowSeconds(clock)
        const signed = await signOnce(sealer, { to, op, request, now, policy })
        if (nowSeconds(clock) - now <= ownerSignSecondsMax) return signed
      }
      throw new Refusal(
        'timeout',
        `the owner's signer took more than ${ownerSignSecondsMax} seconds each time, and a request is good for ${requestSecondsMax}: nothing was sent`,
        { field: signerField, hint: 'let the signer allow this client without asking each time' },
      )
    },
  }
}

type Terms = { to: ReturnType<Asker['to']>; op: Operation; request: string; now: number; policy: RelayPolicy }

async function signOnce(sealer: Sealer, terms: Terms): Promise<SignedRequest> {
  const body = requestBody(terms)
  const event = await sealBy(sealer, {
    recipient: body.host,
    mailbox: body.request,
    body,
    issuedAt: body.issued_at,
    retainUntil: body.expires_at,
  })
  return { body, event }
}
