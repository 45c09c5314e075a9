import type { Grant } from '../protocol/bodies/grant.ts'
import type { Right } from '../protocol/rights.ts'
import { type Random, randomId } from '../seams/random.ts'
import { epochOf } from './access/grants.ts'
import type { Principal } from './access/principal.ts'
import type { AccessRecord, GrantEntry, Issuer } from './access/record.ts'
import { type Sealer, sealGrant } from './seal.ts'

/** What a grant gives, to whom, and why. Times are Unix seconds. */
export interface GrantTerms {
  readonly device: string
  readonly relay: string
  readonly rights: Right[]
  readonly origin: Grant['origin']
  readonly expires_at: number
}

/** Signs a grant of the device's current epoch, issued now, under an ID of its own. */
export function makeGrant(
  { sealer, random }: { sealer: Sealer; random: Random },
  record: AccessRecord,
  terms: GrantTerms,
  now: number,
): GrantEntry {
  const grant: Grant = {
    v: 'openagents.host-grant.v1',
    requires: [],
    grant: randomId(random),
    host: record.host,
    owner: record.owner,
    device: terms.device,
    relay: terms.relay,
    rights: terms.rights,
    epoch: epochOf(record, terms.device),
    origin: terms.origin,
    issued_at: now,
    expires_at: terms.expires_at,
  }
  return { grant, authorization: sealGrant(sealer, grant), revoked_at: null, last_seen: null, renews: [] }
}

/** The public key that a grant names as its issuer: the host's where the local operator acted. */
export function issuerKey(record: AccessRecord, issuer: Issuer | Principal): string {
  switch (issuer.kind) {
    case 'device':
      return 'key' in issuer ? issuer.key : issuer.device
    case 'owner':
      return record.owner
    default:
      return record.host
  }
}
