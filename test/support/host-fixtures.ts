import { readFileSync } from 'node:fs'
import type { BodyName } from '../../src/protocol/body.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Invitation } from '../../src/protocol/invitation.ts'
import type { JsonObject } from '../../src/protocol/json-value.ts'
import type { WireCode } from '../../src/protocol/refusal.ts'

/** The wire fixtures that other implementations share. */
interface HostFixtures {
  readonly keys: Readonly<Record<'host' | 'owner' | 'phone' | 'tablet', string>>
  readonly now: number
  readonly invitation: Omit<Invitation, 'invitation'> & { readonly code: string; readonly id: string }
  readonly valid: Readonly<Record<string, JsonObject>>
  readonly invalid: readonly { name: string; schema: BodyName; body: JsonObject; code: WireCode }[]
  readonly events: readonly { name: string; event: NostrEvent; opens_to: string }[]
}

const file = new URL('../fixtures/nip-host.json', import.meta.url)
export const hostFixtures: HostFixtures = JSON.parse(readFileSync(file, 'utf8'))

/** The secret keys of the fixtures' principals: small scalars. */
export const hostSecrets = { host: secret(11), owner: secret(12), phone: secret(13), tablet: secret(14) }

/** A valid body of the fixtures, in a copy that a test may spoil. */
export function validBody(name: string): JsonObject {
  const body = hostFixtures.valid[name]
  if (body === undefined) throw new Error(`no fixture ${name}`)
  return structuredClone(body)
}

/** A valid request with another operation. */
export function requestWith(op: unknown): JsonObject {
  return { ...validBody('request_device_list'), op: structuredClone(op) as JsonObject }
}

/** The short name of a body, from its schema string. */
export function bodyNameOf(body: JsonObject): BodyName {
  const name = names[String(body['v'])]
  if (name === undefined) throw new Error(`no body ${String(body['v'])}`)
  return name
}

const names: Readonly<Record<string, BodyName>> = {
  'openagents.host-grant.v1': 'grant',
  'openagents.host-request.v1': 'request',
  'openagents.host-reply.v1': 'reply',
  'openagents.host-enrollment-request.v1': 'enrollment',
  'openagents.host-nudge.v1': 'nudge',
  'openagents.host-presence.v1': 'presence',
  'openagents.activity-summary.v1': 'summary',
}

function secret(scalar: number): string {
  return scalar.toString(16).padStart(64, '0')
}
