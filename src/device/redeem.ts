import { clockSkewSeconds } from '../limits.ts'
import type { Access } from '../protocol/bodies/access.ts'
import { type Invitation, parseInvitation } from '../protocol/invitation.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { type Clock, nowSeconds } from '../seams/clock.ts'
import { type Random, randomId } from '../seams/random.ts'
import type { DialRelay } from '../seams/relay-socket.ts'
import { grantsInvitation, readAuthorization } from './authorization.ts'
import { duration, skewWords } from './clock-words.ts'
import { createExchange } from './exchange.ts'
import type { Identity } from './identity.ts'
import { signRequest } from './request.ts'

export interface RedeemDeps {
  readonly identity: Identity
  readonly clock: Clock
  readonly random: Random
  readonly dial: DialRelay
  readonly policy: RelayPolicy
  readonly waitMs: number
}

/**
 * Redeems an invitation over its relay. The same device may do so again and gets the same grant.
 *
 * Refuses `malformed` or `forbidden` for a code that is none, `expired` and `stale` for one whose time is not now by
 * this device's clock, the host's own code when it refuses, and `timeout` when it says nothing: a wrong or used-up
 * capability earns no answer.
 * @see spec/wire.md §4, §7
 */
export async function redeemInvitation(code: string, deps: RedeemDeps): Promise<Access> {
  const { identity, clock, random, policy, waitMs } = deps
  const invitation = parseInvitation(code.trim(), policy)
  checkWindow(invitation, nowSeconds(clock))
  const { host, relay } = invitation
  const exchange = createExchange({ ...deps, host, relay })
  try {
    const sign = async () =>
      signRequest({
        identity,
        to: { host, relay, grant: null },
        op: { kind: 'enroll.redeem', invitation: invitation.invitation, capability: invitation.capability },
        request: randomId(random),
        now: nowSeconds(clock),
        random,
        policy,
      })
    const answer = await exchange.ask(sign, clock.nowMs() + waitMs)
    if (answer.heard === 'silence') {
      throw answer.wrong === true ? new Refusal('malformed', answer.why) : noAnswer(answer.why)
    }
    if (answer.result.status === 'refused') {
      throw new Refusal(answer.result.code, 'the host refused the invitation')
    }
    if (answer.result.outcome.kind !== 'granted') throw new Refusal('malformed', 'the host gave no grant')
    return acceptGrant(answer.result.outcome.authorization, invitation, deps)
  } finally {
    exchange.close()
  }
}

type Authorization = Parameters<typeof readAuthorization>[0]

function acceptGrant(authorization: Authorization, invitation: Invitation, deps: RedeemDeps): Access {
  const { identity, clock, policy } = deps
  const { host, relay } = invitation
  const access = readAuthorization(authorization, { identity, host, relay, now: nowSeconds(clock), policy })
  if (!grantsInvitation(access.grant, invitation)) {
    throw new Refusal('malformed', 'the grant is not of this invitation')
  }
  return access
}

/** The invitation carries the host's time: a device whose clock is off finds out here, before it is ignored. */
function checkWindow(invitation: Invitation, now: number): void {
  const aheadSeconds = invitation.issued_at - now
  if (aheadSeconds > clockSkewSeconds) throw new Refusal('stale', skewWords(aheadSeconds))
  if (now < invitation.expires_at) return
  const age = duration(now - invitation.issued_at)
  throw new Refusal(
    'expired',
    `the invitation was made ${age} ago and is good for five minutes; if it was made just now, this device's clock is ahead of the host's`,
    { hint: 'make a new one on the host: drawbridge invite' },
  )
}

function noAnswer(why: string): Refusal {
  return new Refusal(
    'timeout',
    `${why}. A host also says nothing to an invitation that it does not know, and to a clock that is more than ${clockSkewSeconds} seconds off`,
    {
      hint: 'make a new invitation on the host (drawbridge invite) and check that it runs (drawbridge status)',
    },
  )
}
