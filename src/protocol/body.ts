import type * as z from 'zod'
import { bodyBytesMax } from '../limits.ts'
import { type Access, accessSchema } from './bodies/access.ts'
import { type ActivitySummary, activitySummarySchema } from './bodies/activity-summary.ts'
import { type EnrollmentRequest, enrollmentRequestSchema } from './bodies/enrollment-request.ts'
import { type Grant, grantSchema } from './bodies/grant.ts'
import { type Nudge, nudgeSchema } from './bodies/nudge.ts'
import { type Presence, presenceSchema } from './bodies/presence.ts'
import { type HostReply, type Result, replySchema } from './bodies/reply.ts'
import { type HostRequest, type RequestHead, requestHeadSchema, requestSchema } from './bodies/request.ts'
import { parseInvitation } from './invitation.ts'
import { isJsonObject } from './json-value.ts'
import { Refusal } from './refusal.ts'
import { refusalOf } from './refusal-issues.ts'
import { checkRelayUrl, type RelayPolicy } from './relay-url.ts'
import { parseStrictJson } from './strict-json.ts'

/** Every body by its short name. @see spec/wire.md §5 */
export interface Bodies {
  grant: Grant
  access: Access
  request: HostRequest
  request_head: RequestHead
  reply: HostReply
  enrollment: EnrollmentRequest
  nudge: Nudge
  presence: Presence
  summary: ActivitySummary
}
export type BodyName = keyof Bodies

const schemas: { readonly [N in BodyName]: z.ZodType<Bodies[N]> } = {
  grant: grantSchema,
  access: accessSchema,
  request: requestSchema,
  request_head: requestHeadSchema,
  reply: replySchema,
  enrollment: enrollmentRequestSchema,
  nudge: nudgeSchema,
  presence: presenceSchema,
  summary: activitySummarySchema,
}

/** The schema string of each body. */
const versions: { readonly [N in BodyName]: string } = {
  grant: 'openagents.host-grant.v1',
  access: 'openagents.host-access.v1',
  request: 'openagents.host-request.v1',
  request_head: 'openagents.host-request.v1',
  reply: 'openagents.host-reply.v1',
  enrollment: 'openagents.host-enrollment-request.v1',
  nudge: 'openagents.host-nudge.v1',
  presence: 'openagents.host-presence.v1',
  summary: 'openagents.activity-summary.v1',
}

/**
 * Reads a body, from its bytes (held to the strict rules and to 128 KiB) or from a value that a strict reader gave.
 *
 * Refuses, in this order, naming the field: `unsupported` for an unknown schema string or a requirement; `malformed`
 * for a wrong shape, lifetime, repetition or order; `forbidden` for a relay outside the policy or keys that must
 * differ; `bounds` for a length, line, blank or range rule. Bytes over the bound are `bounds` before all that.
 * @see spec/wire.md §1, §5
 */
export function parseBody<N extends BodyName>(name: N, source: unknown, policy: RelayPolicy): Bodies[N] {
  const value = source instanceof Uint8Array ? strictBody(name, source) : source
  checkHeader(name, value)
  const read = schemas[name].safeParse(value)
  const refusal = read.success ? null : refusalOf(read.error.issues, name)
  if (refusal?.code === 'malformed') throw refusal
  checkRelay(name, value, policy)
  if (!read.success) throw refusal
  if ('result' in read.data) checkOutcome(read.data.result, policy)
  return read.data
}

function strictBody(name: BodyName, bytes: Uint8Array): unknown {
  const { value, looseIntegers } = parseStrictJson(bytes, { bytesMax: bodyBytesMax })
  if (looseIntegers.some((path) => !isOpaquePath(path))) {
    throw new Refusal('malformed', `${name}: an integer is not written as one`)
  }
  return value
}

/**
 * Whether a dotted path of a body leads into what this protocol does not read, the objects of the spend operations:
 * there a number may be written as its owner likes.
 */
export function isOpaquePath(path: string): boolean {
  return path.startsWith('op.grant.') || path.startsWith('op.receipt.')
}

function checkHeader(name: BodyName, value: unknown): void {
  if (!isJsonObject(value)) throw new Refusal('malformed', `${name}: not an object`)
  const { v, requires } = value
  if (typeof v === 'string' && v !== versions[name]) {
    throw new Refusal('unsupported', `${name}: unknown version`, { field: 'v' })
  }
  if (typeof v === 'string' && Array.isArray(requires) && requires.length > 0) {
    throw new Refusal('unsupported', `${name}: a feature is required`, { field: 'requires' })
  }
}

function checkRelay(name: BodyName, value: unknown, policy: RelayPolicy): void {
  const holder = name === 'access' && isJsonObject(value) ? value['grant'] : value
  if (isJsonObject(holder) && typeof holder['relay'] === 'string') checkRelayUrl(holder['relay'], policy)
}

/** An invitation that a reply carries must be one, of the same ID and expiry. */
function checkOutcome(result: Result, policy: RelayPolicy): void {
  if (result.status !== 'ok' || result.outcome.kind !== 'invitation') return
  const { code, invitation, expires_at } = result.outcome
  const read = parseInvitation(code, policy)
  if (read.invitation !== invitation || read.expires_at !== expires_at) {
    throw new Refusal('malformed', 'reply: not the invitation that its code holds', {
      field: 'result.outcome.invitation',
    })
  }
}
