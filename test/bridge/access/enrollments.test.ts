import { describe, expect, it } from 'vitest'
import { createEnrollment, enrollmentOpen } from '../../../src/bridge/access/enrollments.ts'
import { accessRecord, type EnrollmentEntry } from '../../../src/bridge/access/record.ts'
import { createStrangerGate } from '../../../src/bridge/strangers.ts'
import { enrollmentsMax } from '../../../src/limits.ts'
import { enrollmentCodeDigest, enrollmentDigest } from '../../../src/protocol/enrollment-code.ts'
import type { Right } from '../../../src/protocol/rights.ts'
import { systemRandom } from '../../../src/seams/random.ts'
import {
  enrollmentEntry,
  grantEntry,
  id,
  invitationEntry,
  keys,
  now,
  record,
  relay,
  someEvent,
} from '../../support/access.ts'
import { fakeClock } from '../../support/fake-clock.ts'

describe('asking for an enrollment', () => {
  const terms = { rights: ['observe', 'review'] as Right[], relay }

  it('keeps the request, its digest and that of its code, and never the code', () => {
    const made = createEnrollment(record(), terms, now, systemRandom)
    const [entry] = made.record.enrollments
    expect(entry).toEqual(made.entry)
    expect(entry?.request).toMatchObject({ host: keys.host, owner: keys.owner, ...terms })
    expect([entry?.request.issued_at, entry?.request.expires_at]).toEqual([now, now + 300])
    expect(entry?.digest).toBe(enrollmentDigest(made.entry.request))
    expect(entry?.code_digest).toBe(enrollmentCodeDigest(made.entry.request.enrollment, made.code))
    expect(made.code).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/)
    const kept = JSON.stringify(made.record)
    expect(kept).not.toContain(made.code)
    expect(kept).not.toContain(made.code.replace('-', ''))
    expect(accessRecord.safeParse(JSON.parse(kept)).data).toEqual(made.record)
  })

  it('is possible for 32 at once, and again when the dead are a minute dead', () => {
    let book = record()
    for (let count = 0; count < enrollmentsMax; count += 1) {
      book = createEnrollment(book, terms, now, systemRandom).record
    }
    const once = (at: number) => createEnrollment(book, terms, at, systemRandom).record.enrollments.length
    expect(() => once(now + 359)).toThrow(expect.objectContaining({ code: 'bounds' }))
    expect(once(now + 360)).toBe(1)
  })

  it('a book that was written before there were enrollments has none', () => {
    const { enrollments: _, ...before } = record({ grants: [grantEntry()] })
    const grants = before.grants.map(({ renews: _renews, ...entry }) => entry)
    const read = accessRecord.parse({ ...before, grants })
    expect([read.enrollments, read.grants[0]?.renews]).toEqual([[], []])
  })
})

describe('listening to strangers', () => {
  const states: [string, Partial<EnrollmentEntry>, number, boolean][] = [
    ['goes on while an enrollment waits', {}, now + 299, true],
    ['ends with its time', {}, now + 300, false],
    ['ends when it is denied', { denied_at: now }, now, false],
    ['ends when wrong codes close it', { attempts: 5, closed_at: now }, now, false],
    ['ends when it is approved', { approved: { device: keys.phone, grant: id(0xa1), at: now } }, now, false],
  ]
  for (const [name, changes, at, open] of states) {
    it(name, () => {
      const book = record({ enrollments: [enrollmentEntry(changes)] })
      expect(enrollmentOpen(book, at)).toBe(open)
      const gate = createStrangerGate(fakeClock(at * 1000))
      expect(gate.closedFor(someEvent(1), book)).toBe(open ? null : 'stranger_closed')
      const invited = { ...book, invitations: [invitationEntry()] }
      expect(gate.closedFor(someEvent(1), invited)).toBe(null)
    })
  }
})
