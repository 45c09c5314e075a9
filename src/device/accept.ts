import { clockSkewSeconds, enrollmentSecondsMax } from '../limits.ts'
import type { Access } from '../protocol/bodies/access.ts'
import { artifactKind } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import { quoted } from '../protocol/shell-word.ts'
import { nowSeconds } from '../seams/clock.ts'
import { type AuthorizationTerms, readAuthorization } from './authorization.ts'
import type { DeviceOptions } from './device.ts'
import type { Identity } from './identity.ts'
import { listen } from './listen.ts'

/** Which grant a device is willing to take. */
export interface ApprovalTerms {
  readonly host: string
  readonly relay: string
  /** Only of this enrollment. */
  readonly enrollment?: string
}

/**
 * The access that an approved enrollment gives this device, from the host-signed event. Refuses as
 * `readAuthorization` does, `malformed` for a grant that no approval (or another one) gave, `conflict` for a device
 * of another host, and `stale` for a grant older than the one that is held.
 * @param held what the device has now, or null
 * @see spec/wire.md §5, §7
 */
export function acceptApproval(
  event: NostrEvent,
  held: Access | null,
  terms: AuthorizationTerms & Pick<ApprovalTerms, 'enrollment'>,
): Access {
  const next = readAuthorization(event, terms)
  const { origin, host, grant, epoch, issued_at } = next.grant
  if (origin.kind !== 'approval' || origin.id !== (terms.enrollment ?? origin.id)) {
    throw new Refusal('malformed', 'not a grant of this enrollment: origin', { field: 'origin' })
  }
  if (held === null) return next
  if (held.grant.host !== host) {
    throw new Refusal('conflict', 'this device is paired with another host already', {
      hint: 'give this pairing a directory of its own: --state DIR',
    })
  }
  if (held.grant.grant === grant) return held
  if (epoch < held.grant.epoch || issued_at < held.grant.issued_at) {
    throw new Refusal('stale', 'this device holds a newer grant of this host already')
  }
  return next
}

/**
 * Waits for the grant that a host publishes to a device that was approved. Refuses `timeout` after `waitMs`.
 * @see spec/wire.md §7
 */
export async function awaitApproval(
  options: DeviceOptions,
  identity: Identity,
  { held, waitMs, ...wanted }: ApprovalTerms & { readonly held: Access | null; readonly waitMs: number },
): Promise<Access> {
  const { clock, dial, policy } = options
  const self = identity.signer.publicKey
  const found = await listen({
    relay: wanted.relay,
    signer: identity.signer,
    clock,
    dial,
    waitMs,
    filter() {
      const since = Math.max(0, nowSeconds(clock) - enrollmentSecondsMax - clockSkewSeconds)
      return { kinds: [artifactKind], authors: [wanted.host], '#p': [self], since }
    },
    async consider(heard) {
      const now = nowSeconds(clock)
      const grants = heard.flatMap((event) => ifAcceptable(event, held, { identity, now, policy, ...wanted }))
      return newest(grants)
    },
  })
  if (found !== null) return found
  throw new Refusal(
    'timeout',
    `no approval of this device came within ${Math.round(waitMs / 1000)} seconds`,
    {
      hint: `it is approved elsewhere with: drawbridge enroll approve --host ${wanted.host} --relay ${quoted(wanted.relay)} --code CODE --device ${self}`,
    },
  )
}

type Terms = Parameters<typeof acceptApproval>[2]

function ifAcceptable(event: NostrEvent, held: Access | null, terms: Terms): Access[] {
  try {
    return [acceptApproval(event, held, terms)]
  } catch (error) {
    if (isRefusal(error)) return []
    throw error
  }
}

/** By the host's own word in the grant, not by the date of an event. */
function newest(grants: readonly Access[]): Access | null {
  return grants.reduce<Access | null>((best, next) => {
    return best === null || next.grant.issued_at > best.grant.issued_at ? next : best
  }, null)
}
