import type { Grant } from '../../../../src/protocol/bodies/grant.ts'
import { parseInvitation } from '../../../../src/protocol/invitation.ts'
import type { JsonObject } from '../../../../src/protocol/json-value.ts'
import type { Operation } from '../../../../src/protocol/operations.ts'
import type { Right } from '../../../../src/protocol/rights.ts'
import { id } from '../../access.ts'
import type { Name, Start } from '../fixture.ts'
import { keyOf } from '../fresh-host.ts'
import type { Scenario, Scene } from '../scene.ts'

/** When every exchange begins, Unix seconds. */
export const began = 1_795_000_000
export const primaryRelay = 'wss://relay.example.net/'
export const otherRelay = 'wss://other.example.net/'

export const list = { kind: 'workspace.list' } as const
export const ours: Right[] = ['observe', 'operate']
export const everything: Right[] = ['observe', 'operate', 'terminal', 'review', 'access_read', 'access_admin']

/** A grant that the host gave an hour before the exchange. */
export function granted(device: Name, rights: Right[] = ours, changes: Partial<Grant> = {}): Grant {
  const number = { phone: 0xa1, tablet: 0xa2, watch: 0xa3, laptop: 0xa4 }[device as string] ?? 0xaf
  return {
    v: 'openagents.host-grant.v1',
    requires: [],
    grant: id(number),
    host: keyOf('host').publicKey,
    owner: keyOf('owner').publicKey,
    device: keyOf(device).publicKey,
    relay: primaryRelay,
    rights,
    epoch: 0,
    origin: { kind: 'invitation', id: id(number + 0x10), issuer: keyOf('host').publicKey },
    issued_at: began - 3_600,
    expires_at: began + 864_000,
    ...changes,
  }
}

/** Describes an exchange: what it is about, how it begins, and what happens. */
export function scenario(
  name: string,
  about: string,
  begin: Partial<Start> & { readonly records?: readonly string[] },
  play: (scene: Scene) => Promise<void>,
): Scenario {
  const { records = [], ...start } = begin
  return {
    name,
    about,
    records,
    start: { at: began, relays: [primaryRelay], workspaces: ['site'], grants: [], ...start },
    play,
  }
}

/** The operation that redeems an invitation which a device made. */
export function redemptionOf(outcome: JsonObject): Extract<Operation, { kind: 'enroll.redeem' }> {
  const { invitation, capability } = parseInvitation(String(outcome['code']), 'production')
  return { kind: 'enroll.redeem', invitation, capability }
}
