import fc from 'fast-check'
import {
  createEnrollment,
  decideApproval,
  denyEnrollment,
  withApproval,
} from '../../src/bridge/access/enrollments.ts'
import { addGrant, addRenewal, currentGrants, epochOf, prune } from '../../src/bridge/access/grants.ts'
import { cancelInvitation, createInvitation } from '../../src/bridge/access/invitations.ts'
import type { Principal } from '../../src/bridge/access/principal.ts'
import type { AccessRecord, EnrollmentEntry, GrantEntry } from '../../src/bridge/access/record.ts'
import { decideRedemption, withRedemptionReply } from '../../src/bridge/access/redeem.ts'
import { lineAfter, renewalOf } from '../../src/bridge/access/renewal.ts'
import { revokeDevice } from '../../src/bridge/access/revoke.ts'
import { issuerKey } from '../../src/bridge/make-grant.ts'
import { type Invitation, parseInvitation } from '../../src/protocol/invitation.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { type Right, rights } from '../../src/protocol/rights.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { grantEntry, keys, record, relay, someEvent, now as start } from './access.ts'
import { testKey } from './keys.ts'

/** The devices that steps are about. */
export const cast = [keys.phone, keys.tablet, keys.stranger] as const

/** Any step in the life of an access book, as somebody could take it. */
export type AccessStep = { readonly wait: number; readonly by: number; readonly device: number } & (
  | { readonly kind: 'invite' | 'request'; readonly rights: Right[]; readonly seconds: number }
  | { readonly kind: 'approve'; readonly which: number; readonly wrongs: number; readonly seconds: number }
  | { readonly kind: 'redeem' | 'cancel' | 'deny'; readonly which: number }
  | { readonly kind: 'revoke' | 'hear' }
  | { readonly kind: 'crowd'; readonly count: number }
)

/** A book that lives, with what its people remember. */
export interface AccessLife {
  now: number
  book: AccessRecord
  readonly invitations: Invitation[]
  readonly enrollments: { readonly entry: EnrollmentEntry; readonly code: string }[]
  grants: number
}

export function newLife(): AccessLife {
  return { now: start, book: record(), invitations: [], enrollments: [], grants: 0 }
}

/** Takes one step as the bridge takes it: what is refused changes nothing, and each write prunes. */
export function live(life: AccessLife, step: AccessStep): void {
  life.now += step.wait
  const before = prune(life.book, life.now)
  try {
    life.book = prune(taken(life, before, step), life.now)
  } catch (error) {
    if (!isRefusal(error)) throw error
    life.book = before
  }
}

/** Most steps follow at once; some let things run out. */
const wait = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 15 }) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 1_200 }) },
)
const common = { wait, by: fc.nat(4), device: fc.nat(2) }
const which = fc.nat(1)
const seconds = fc.integer({ min: 1, max: 3_000 })
const someRights = fc.subarray([...rights], { minLength: 1 })

/** Steps in any order. */
export const accessSteps: fc.Arbitrary<AccessStep[]> = fc.array(
  fc.oneof(
    weighted(4, { kind: fc.constantFrom('invite', 'request'), rights: someRights, seconds }),
    weighted(4, { kind: fc.constant('redeem'), which }),
    weighted(3, { kind: fc.constant('approve'), which, wrongs: fc.nat(6), seconds }),
    weighted(1, { kind: fc.constantFrom('cancel', 'deny', 'deny'), which }),
    weighted(1, { kind: fc.constant('revoke') }),
    weighted(6, { kind: fc.constant('hear'), wait: fc.integer({ min: 0, max: 900 }) }),
    weighted(0.2, { kind: fc.constant('crowd'), count: fc.constantFrom(3, 140) }),
  ) as fc.Arbitrary<AccessStep>,
  { minLength: 10, maxLength: 80, size: 'max' },
)

function weighted(weight: number, fields: Record<string, fc.Arbitrary<unknown>>) {
  return { weight: weight * 10, arbitrary: fc.record({ ...common, ...fields }) }
}

function taken(life: AccessLife, book: AccessRecord, step: AccessStep): AccessRecord {
  const { now } = life
  const device = cast[step.device] ?? keys.phone
  switch (step.kind) {
    case 'invite': {
      const terms = { rights: step.rights, grant_expires_at: now + 300 + step.seconds, relay }
      const made = createInvitation(book, principal(life, book, step.by), terms, now, systemRandom)
      life.invitations.unshift(parseInvitation(made.code, 'production'))
      return made.record
    }
    case 'redeem':
      return redeemed(life, book, life.invitations[step.which], device)
    case 'cancel':
      return cancelInvitation(book, life.invitations[step.which]?.invitation ?? '', now)
    case 'request': {
      const made = createEnrollment(book, { rights: step.rights, relay }, now, systemRandom)
      life.enrollments.unshift(made)
      return made.record
    }
    case 'approve':
      return approvedBy(life, book, step, device)
    case 'deny':
      return denyEnrollment(book, named(life, step.which), now)
    case 'revoke':
      return revokeDevice(book, device, now).record
    case 'hear':
      return heard(life, book, device)
    case 'crowd':
      return crowded(life, book, step.count)
  }
}

/** The operator, the owner, or one of the cast under its newest grant. */
function principal(life: AccessLife, book: AccessRecord, by: number): Principal {
  const key = cast[by - 2]
  if (key === undefined) return by === 0 ? { kind: 'operator' } : { kind: 'owner', key: keys.owner }
  const entry = currentGrants(book, life.now).find(({ grant }) => grant.device === key)
  return entry === undefined ? { kind: 'operator' } : { kind: 'device', key, entry }
}

function granted(
  life: AccessLife,
  book: AccessRecord,
  device: string,
  terms: Partial<GrantEntry['grant']>,
): GrantEntry {
  life.grants += 1
  const grant = life.grants.toString(16).padStart(64, '0')
  return grantEntry({ ...terms, grant, device, epoch: epochOf(book, device), issued_at: life.now })
}

function redeemed(
  life: AccessLife,
  book: AccessRecord,
  code: Invitation | undefined,
  signer: string,
): AccessRecord {
  if (code === undefined) return book
  const request_event = someEvent(life.grants % 256).id
  const asked = { ...code, signer, issued_at: life.now, request_event }
  const decision = decideRedemption(book, asked, life.now)
  if (decision.kind !== 'grant') return book
  const { rights, grant_expires_at, issuer, invitation } = decision.invitation
  const origin = { kind: 'invitation' as const, id: invitation, issuer: issuerKey(book, issuer) }
  const entry = granted(life, book, signer, { rights, origin, expires_at: grant_expires_at })
  const reply = {
    request: request_event,
    request_event,
    signer,
    expires_at: life.now + 60,
    reply: someEvent(1),
  }
  const redeemed = { device: signer, grant: entry.grant.grant, at: life.now }
  return withRedemptionReply(addGrant(book, entry, life.now), decision.invitation, reply, redeemed)
}

/** Some wrong codes, and then the right one. */
function approvedBy(
  life: AccessLife,
  book: AccessRecord,
  step: Extract<AccessStep, { kind: 'approve' }>,
  device: string,
): AccessRecord {
  const by = principal(life, book, step.by)
  const asked = named(life, step.which)
  const { rights } = life.enrollments[step.which]?.entry.request ?? { rights: [] }
  const grant_expires_at = life.now + step.seconds
  const approval = { ...asked, device, rights, grant_expires_at }
  let after = book
  for (let wrong = 0; wrong < step.wrongs; wrong += 1) {
    const decision = decideApproval(after, by, { ...approval, code: 'WRONG' }, life.now)
    if (decision.kind === 'refuse') after = decision.record
  }
  const decision = decideApproval(after, by, approval, life.now)
  if (decision.kind === 'refuse') return decision.record
  if (decision.kind === 'again') return after
  const origin = { kind: 'approval' as const, id: asked.enrollment, issuer: issuerKey(book, by) }
  const entry = granted(life, book, device, { rights, origin, expires_at: grant_expires_at })
  return withApproval(addGrant(after, entry, life.now), decision.enrollment, entry, life.now)
}

function named(life: AccessLife, which: number) {
  const { entry, code } = life.enrollments[which] ?? {}
  return {
    enrollment: entry?.request.enrollment ?? '',
    request_digest: entry?.digest ?? '',
    relay,
    code: code ?? '',
  }
}

/** A device is heard under its oldest current grant. */
function heard(life: AccessLife, book: AccessRecord, device: string): AccessRecord {
  const oldest = currentGrants(book, life.now)
    .filter(({ grant }) => grant.device === device)
    .at(-1)
  if (oldest === undefined) return book
  const found = renewalOf(book, oldest.grant.grant, life.now)
  if (found.kind !== 'due') return book
  const { rights, origin, issued_at, expires_at } = found.entry.grant
  const terms = { rights, origin, expires_at: life.now + expires_at - issued_at }
  const renewal = { ...granted(life, book, device, terms), renews: lineAfter(found.entry) }
  return addRenewal(book, renewal, life.now)
}

/** So many devices that nobody knows hold grants of ten minutes. */
function crowded(life: AccessLife, book: AccessRecord, count: number): AccessRecord {
  let after = book
  for (let index = 0; index < count; index += 1) {
    const device = testKey(100 + index).publicKey
    try {
      after = addGrant(after, granted(life, after, device, { expires_at: life.now + 600 }), life.now)
    } catch (error) {
      if (!isRefusal(error, 'bounds')) throw error
    }
  }
  return after
}
