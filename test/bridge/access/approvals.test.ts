import { describe, expect, it } from 'vitest'
import {
  type Approval,
  decideApproval,
  denyEnrollment,
  withApproval,
} from '../../../src/bridge/access/enrollments.ts'
import type { Principal } from '../../../src/bridge/access/principal.ts'
import type { AccessRecord, EnrollmentEntry } from '../../../src/bridge/access/record.ts'
import { grantSecondsMax } from '../../../src/limits.ts'
import {
  enrollmentCode as code,
  enrollmentEntry,
  grantEntry,
  id,
  keys,
  now,
  record,
  relay,
} from '../../support/access.ts'

const owner: Principal = { kind: 'owner', key: keys.owner }
const admin = grantEntry({
  grant: id(0xa2),
  device: keys.tablet,
  rights: ['observe', 'operate', 'access_admin'],
  expires_at: now + 7_200,
})
const byTablet: Principal = { kind: 'device', key: keys.tablet, entry: admin }
const asked: Approval = {
  enrollment: id(0xe1),
  request_digest: enrollmentEntry().digest,
  relay,
  code,
  device: keys.phone,
  rights: ['observe'],
  grant_expires_at: now + 3_600,
}
const approved = { device: keys.phone, grant: id(0xa1), at: now }
const holding = (changes: Partial<EnrollmentEntry> = {}, more: Partial<AccessRecord> = {}) =>
  record({ grants: [admin, grantEntry()], enrollments: [enrollmentEntry(changes)], ...more })
const longest = now + 2 + grantSecondsMax
const cases: {
  name: string
  by?: Principal
  record?: AccessRecord
  asked?: Partial<Approval>
  at?: number
  earns: string
}[] = [
  { name: 'the owner, with the right code', earns: 'grant' },
  { name: 'a device that administers access, with the right code', by: byTablet, earns: 'grant' },
  { name: 'the code as a person types it', asked: { code: ' jn7v 2vle' }, earns: 'grant' },
  { name: 'an unknown enrollment', asked: { enrollment: id(0xe2) }, earns: 'forbidden' },
  {
    name: 'the digest of another request',
    asked: { request_digest: `sha256:${id(1)}` },
    earns: 'forbidden',
  },
  {
    name: 'another relay than the request names',
    asked: { relay: 'wss://other.example/' },
    earns: 'forbidden',
  },
  { name: 'at 299 s', at: now + 299, earns: 'grant' },
  { name: 'at 300 s', at: now + 300, earns: 'expired' },
  { name: 'denied, and expired too', record: holding({ denied_at: now }), at: now + 300, earns: 'expired' },
  { name: 'denied', record: holding({ denied_at: now }), earns: 'denied' },
  {
    name: 'denied, and closed too',
    record: holding({ denied_at: now, closed_at: now, attempts: 5 }),
    earns: 'denied',
  },
  {
    name: 'closed, although the code is right',
    record: holding({ closed_at: now, attempts: 5 }),
    earns: 'rate_limited',
  },
  { name: 'a wrong code', asked: { code: 'AAAA-AAAA' }, earns: 'wrong_code' },
  { name: 'a wrong code for the host itself', asked: { code: 'A', device: keys.host }, earns: 'wrong_code' },
  { name: 'the host as the device', asked: { device: keys.host }, earns: 'forbidden' },
  { name: 'the owner as the device', asked: { device: keys.owner }, earns: 'forbidden' },
  { name: 'a right that was not asked for', asked: { rights: ['terminal'] }, earns: 'forbidden' },
  {
    name: 'a right that was not asked for and the approver lacks',
    by: byTablet,
    asked: { rights: ['terminal'] },
    earns: 'forbidden',
  },
  {
    name: 'a right that the approver lacks, naming the first',
    by: byTablet,
    asked: { rights: ['observe', 'review'], grant_expires_at: now },
    earns: 'missing_right review',
  },
  { name: 'the same right from the owner', asked: { rights: ['observe', 'review'] }, earns: 'grant' },
  { name: 'a grant that is over', asked: { grant_expires_at: now + 2 }, earns: 'forbidden' },
  { name: 'a grant of one second', asked: { grant_expires_at: now + 3 }, earns: 'grant' },
  { name: 'a grant of 30 days', asked: { grant_expires_at: longest }, earns: 'grant' },
  { name: 'a grant of 30 days and a second', asked: { grant_expires_at: longest + 1 }, earns: 'forbidden' },
  {
    name: 'a grant as long as that of the approver',
    by: byTablet,
    asked: { grant_expires_at: now + 7_200 },
    earns: 'grant',
  },
  {
    name: 'a grant that outlives that of the approver',
    by: byTablet,
    asked: { grant_expires_at: now + 7_201 },
    earns: 'forbidden',
  },
  { name: 'the same device again', record: holding({ approved }), earns: 'again' },
  {
    name: 'the same device again, with other terms, after its time',
    record: holding({ approved }),
    asked: { rights: ['terminal'], code: 'A' },
    at: now + 320,
    earns: 'again',
  },
  {
    name: 'another device than was approved',
    record: holding({ approved }),
    asked: { device: keys.stranger },
    earns: 'conflict',
  },
  {
    name: 'the same device after it was revoked',
    record: holding({ approved }, { grants: [grantEntry({ revoked_at: now })] }),
    earns: 'revoked',
  },
  {
    name: 'the same device when its grant is forgotten',
    record: holding({ approved }, { grants: [] }),
    earns: 'revoked',
  },
  {
    name: 'the same device when its grant has expired',
    record: holding({ approved }, { grants: [grantEntry({ expires_at: now + 2 })] }),
    earns: 'expired',
  },
]

describe('an approval', () => {
  for (const row of cases) {
    it(`${row.name}: ${row.earns}`, () => {
      const book = row.record ?? holding()
      const decision = decideApproval(book, row.by ?? owner, { ...asked, ...row.asked }, row.at ?? now + 2)
      const said = decision.kind === 'refuse' ? `${decision.code} ${decision.missing ?? ''}` : decision.kind
      expect(said.trim()).toBe(row.earns)
      if (decision.kind === 'refuse' && decision.code !== 'wrong_code') expect(decision.record).toBe(book)
      if (decision.kind === 'again') expect(decision.entry.grant.grant).toBe(approved.grant)
    })
  }

  it('five wrong codes close it; the fifth is still told that it was wrong', () => {
    let book = holding()
    const said: string[] = []
    for (let count = 0; count < 7; count += 1) {
      const decision = decideApproval(book, owner, { ...asked, code: `${count}` }, now + count)
      if (decision.kind !== 'refuse') throw new Error('not refused')
      said.push(decision.code)
      book = decision.record
    }
    expect(said).toEqual([...Array(5).fill('wrong_code'), 'rate_limited', 'rate_limited'])
    expect(book.enrollments[0]).toMatchObject({ attempts: 5, closed_at: now + 4 })
    expect(decideApproval(book, owner, asked, now + 9)).toMatchObject({ code: 'rate_limited' })
  })

  it('a right code after four wrong ones is granted, and is remembered with its device', () => {
    const book = holding({ attempts: 4 })
    const decision = decideApproval(book, owner, asked, now)
    if (decision.kind !== 'grant') throw new Error('not granted')
    const after = withApproval(book, decision.enrollment, grantEntry(), now + 1)
    expect(after.enrollments[0]).toMatchObject({ attempts: 4, approved: { ...approved, at: now + 1 } })
  })
})

describe('a denial', () => {
  it('is done once and again is no change', () => {
    const once = denyEnrollment(holding(), asked, now + 3)
    expect(once.enrollments[0]?.denied_at).toBe(now + 3)
    expect(denyEnrollment(once, asked, now + 5)).toBe(once)
  })

  it('is possible when wrong codes have closed it', () => {
    const once = denyEnrollment(holding({ attempts: 5, closed_at: now }), asked, now + 3)
    expect(decideApproval(once, owner, asked, now + 4)).toMatchObject({ code: 'denied' })
  })

  const refused: [string, AccessRecord, Partial<Approval>, number, string][] = [
    ['an unknown one', holding(), { enrollment: id(0xe2) }, now, 'forbidden'],
    ['another digest', holding(), { request_digest: `sha256:${id(1)}` }, now, 'forbidden'],
    ['another relay', holding(), { relay: 'wss://other.example/' }, now, 'forbidden'],
    ['one that has expired', holding(), {}, now + 300, 'expired'],
    ['one that was approved', holding({ approved }), {}, now, 'conflict'],
  ]
  for (const [name, book, changes, at, refusal] of refused) {
    it(`of ${name} is ${refusal}`, () => {
      expect(() => denyEnrollment(book, { ...asked, ...changes }, at)).toThrow(
        expect.objectContaining({ code: refusal }),
      )
    })
  }
})
