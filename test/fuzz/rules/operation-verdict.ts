import type { NostrEvent } from '../../../src/protocol/event.ts'
import { type Allowed, type HostWorld, nothing, type Standing } from './event-rules.ts'
import { mayWrite, operation, rightFor } from './operation-rules.ts'
import { isObject } from './rule.ts'

/** A request whose envelope, head, window and addressee are in order. */
interface Judged {
  readonly event: NostrEvent
  readonly head: Readonly<Record<string, unknown>>
  readonly op: unknown
  readonly loose: 'nowhere' | 'in op'
  readonly standing: Standing
}

/** The codes of what was admitted and could not be done. */
const failures = [
  'forbidden',
  'missing_right',
  'expired',
  'revoked',
  'stale',
  'conflict',
  'bounds',
  'unavailable',
]
const enrolling = [...failures, 'wrong_code', 'denied', 'rate_limited']

/** @see spec/wire.md §7, from the right capability on */
export function judgeOperation(judged: Judged, world: HostWorld): Allowed {
  const { event, head, op, loose, standing } = judged
  const redeems = isObject(op) && op['kind'] === 'enroll.redeem'
  let shape = operation(op)
  if (loose === 'in op' || (redeems && head['grant'] !== null && shape === 'ok')) shape = 'malformed'
  if (shape === 'ok' && redeems) return judgeRedemption(judged, world)
  if (standing.kind === 'host') return nothing('the host itself')
  const { kind } = isObject(op) ? op : {}
  if (shape !== 'ok') {
    const served = standing.kind === 'owner' || standing.state === 'active'
    if (!served) return nothing('a bad operation of somebody who is not served')
    return { answers: [shape, 'conflict'], must: true, writes: false, why: 'a bad operation' }
  }
  const known = standing.kind !== 'stranger'
  const refused = (...answers: string[]): Allowed => ({ answers, must: known, writes: false, why: 'refused' })
  const owner = world.taken.get(String(head['request']))
  if (owner !== undefined && owner !== event.id) return refused('conflict')
  const principal = judgePrincipal(judged, world)
  if (principal !== null) return refused(principal)
  if (standing.kind === 'device' && standing.rights?.includes(rightFor(String(kind))) !== true)
    return refused('missing_right')
  return judgeAct(String(kind), op)
}

/** The refusal of who asks, or null for a principal. @see spec/wire.md §7, step 2 */
function judgePrincipal({ head, standing, event }: Judged, world: HostWorld): string | null {
  if (head['grant'] === null) return standing.kind === 'owner' ? null : 'forbidden'
  const [holder, named] =
    [...world.standings].find(([, one]) => one.grant !== undefined && one.grant === head['grant']) ?? []
  if (named === undefined || holder !== event.pubkey) return 'forbidden'
  if (named.state !== 'active') return named.state ?? 'forbidden'
  if (head['epoch'] !== named.epoch) return 'stale'
  const early = Number(head['issued_at']) < Number(named.issued_at) - 60
  return early || Number(head['expires_at']) > Number(named.expires_at) ? 'forbidden' : null
}

function judgeAct(kind: string, op: unknown): Allowed {
  const act = (...answers: string[]): Allowed => ({
    answers,
    must: true,
    writes: mayWrite(kind),
    why: 'whole',
  })
  if (/^(terminal|chats|thread|spend)\./.test(kind)) return act('unavailable')
  if (kind === 'workspace.list' || kind === 'device.list') return act('ok')
  if (kind === 'task.list' || kind === 'task.read')
    return act('ok', 'forbidden', 'stale', ...(namesCursor(op) ? ['malformed'] : []))
  if (kind.startsWith('enroll.')) return act('ok', ...enrolling)
  return act('ok', 'rate_limited', 'unsupported', ...failures)
}

/** What a cursor looks like is the host's own affair. */
function namesCursor(op: unknown): boolean {
  const query = isObject(op) ? op['query'] : null
  return isObject(query) && query['cursor'] !== null
}

function judgeRedemption({ op, head, event, standing }: Judged, world: HostWorld): Allowed {
  const { invitation, capability } = isObject(op) ? op : {}
  if (world.invitations.get(String(invitation)) !== capability || capability === undefined)
    return nothing('a wrong capability')
  const owner = world.taken.get(String(head['request']))
  if (owner !== undefined && owner !== event.id)
    return { answers: ['conflict'], must: true, writes: false, why: 'a taken request' }
  if (standing.kind === 'owner' || standing.kind === 'host')
    return { answers: ['forbidden'], must: true, writes: false, why: 'the owner or the host redeems' }
  return { answers: ['ok', 'forbidden', 'bounds'], must: true, writes: true, why: 'a redemption' }
}
