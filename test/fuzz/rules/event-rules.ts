import type { MadeEvent } from '../event-cases.ts'
import { canonicalText, sha256 } from '../raw-seal.ts'
import { judgeBody } from './body-rules.ts'
import { judgeOperation } from './operation-verdict.ts'
import { fields, id, isObject, natural, oneOf, whole, yes } from './rule.ts'
import { readStrictly } from './strict-reader.ts'

/** What a host may do about an event, by the page. */
export interface Allowed {
  /** What may be answered: `ok`, or codes of refusals. Empty: nothing at all. */
  readonly answers: readonly string[]
  /** Whether exactly one answer must come. */
  readonly must: boolean
  /** Whether the host may keep or change anything for it, beside the answer itself and when it last saw a grant. */
  readonly writes: boolean
  /** Who asks, for the messages of a failing test. */
  readonly why: string
}

/** A key that asks, as the host's book has it. Times are Unix seconds. */
export interface Standing {
  readonly kind: 'owner' | 'host' | 'device' | 'stranger'
  readonly grant?: string
  readonly epoch?: number
  readonly rights?: readonly string[]
  readonly state?: 'active' | 'revoked' | 'expired'
  readonly issued_at?: number
  readonly expires_at?: number
}

/** What is true of a host while events are judged. */
export interface HostWorld {
  readonly host: string
  readonly owner: string
  readonly relay: string
  /** Unix seconds. */
  readonly now: number
  readonly standings: ReadonlyMap<string, Standing>
  /** Capabilities that would be accepted now, by invitation. */
  readonly invitations: ReadonlyMap<string, string>
  /** Request IDs that belong to an event already. */
  readonly taken: ReadonlyMap<string, string>
}

export const nothing = (why: string): Allowed => ({ answers: [], must: false, writes: false, why })

/**
 * What an event may earn: silence, or one answer of some kinds. Written from the page alone.
 * @see spec/wire.md §2, §7
 */
export function judgeEvent({ event, plaintext, genuine }: MadeEvent, world: HostWorld): Allowed {
  if (!genuine) return nothing('not signed by its author')
  if (event.kind !== 3_188 || event.content.length > 409_600) return nothing('kind or size')
  const tag = (name: string) => event.tags.find((one) => one.length === 2 && one[0] === name)?.[1]
  const [recipient, mailbox] = [tag('p'), tag('h')]
  if (event.tags.length !== 3 || tag('t') !== 'oa:artifact:v1' || id(mailbox) !== 'ok') return nothing('tags')
  if (recipient !== world.host || plaintext === null) return nothing('not for the host')
  const standing = world.standings.get(event.pubkey) ?? { kind: 'stranger' as const }
  const closed = world.invitations.size === 0 || event.content.length > 4_096
  if (standing.kind === 'stranger' && closed) return nothing('a stranger who is not heard')
  const opened = open(plaintext, event.created_at)
  if (opened === null) return nothing('envelope')
  const { body, loose } = opened
  if (body['v'] !== 'openagents.host-request.v1') return nothing('no request')
  const { op, ...head } = body
  if (judgeBody('request_head', head, 'production') !== 'ok') return nothing('head')
  if (head['host'] !== world.host || head['relay'] !== world.relay || head['request'] !== mailbox)
    return nothing('another host, relay or mailbox')
  if (Number(head['issued_at']) > world.now + 60 || Number(head['expires_at']) <= world.now)
    return nothing('window')
  return judgeOperation({ event, head, op, loose, standing }, world)
}

const envelope = fields({
  v: oneOf('openagents.artifact-envelope.v1'),
  requires: (list) => yes(Array.isArray(list) && list.length === 0),
  artifact: fields({
    digest: (text) => yes(typeof text === 'string'),
    size: whole(0, 131_072),
    media_type: oneOf('application/json'),
    schema: (text) => yes(typeof text === 'string'),
  }),
  inline: (value) => yes(isObject(value)),
  issued_at: natural,
  retain_until: natural,
})

/** The body of an envelope whose every claim holds, and whether its operation has an integer that is not written as one. */
export function open(
  plaintext: Uint8Array,
  createdAt: number,
): { body: Record<string, unknown>; loose: 'nowhere' | 'in op'; retain_until: number } | null {
  if (plaintext.length > 135_168) return null
  const reading = readStrictly(plaintext)
  if (!reading.ok || envelope(reading.value) !== 'ok' || !isObject(reading.value)) return null
  const { artifact, inline, issued_at, retain_until } = reading.value
  if (!isObject(artifact) || !isObject(inline)) return null
  const read = reading.loose.filter((path) => !/^inline\.op\.(grant|receipt)\./.test(path))
  const inOperation = read.filter((path) => path.startsWith('inline.op.') || path === 'inline.op')
  if (inOperation.length < read.length) return null
  const canonical = canonicalText(inline)
  if (artifact['digest'] !== `sha256:${sha256(canonical)}`) return null
  if (artifact['size'] !== Buffer.byteLength(canonical, 'utf8') || artifact['schema'] !== inline['v'])
    return null
  if (createdAt !== issued_at || !timesAgree(inline, Number(issued_at), Number(retain_until))) return null
  const loose = inOperation.length > 0 ? 'in op' : 'nowhere'
  return { body: inline, loose, retain_until: Number(retain_until) }
}

function timesAgree(body: Record<string, unknown>, issued: number, until: number): boolean {
  if (until <= issued) return false
  if (body['v'] === 'openagents.host-presence.v1')
    return body['observed_at'] === issued && until === issued + 300
  if (body['v'] === 'openagents.activity-summary.v1')
    return body['updated_at'] === issued && until <= issued + 604_800
  const { issued_at = issued, expires_at = until } = body
  return issued_at === issued && expires_at === until
}
