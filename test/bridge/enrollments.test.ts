import { beforeEach, describe, expect, it } from 'vitest'
import { currentGrants } from '../../src/bridge/access/grants.ts'
import { approveEnrollment, refuseEnrollment } from '../../src/bridge/operations/enrollments.ts'
import { enrollmentCopiesMax } from '../../src/limits.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { enrollmentDigest } from '../../src/protocol/enrollment-code.ts'
import { envelopeAddress, openVerified } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Right } from '../../src/protocol/rights.ts'
import { grantEntry, id, keys, now, relay } from '../support/access.ts'
import { type AccessDesk, accessDesk, approvalOf, asking, asOwner } from '../support/access-desk.ts'
import { type TestKey, testKey } from '../support/keys.ts'

const [owner, phone, tablet] = [testKey(12), testKey(13), testKey(14)]
const elsewhere = 'wss://elsewhere.example.net/'
const administers: Right[] = ['observe', 'operate', 'access_admin']
const admin = grantEntry({ grant: id(0xa2), device: keys.tablet, rights: administers, relay: elsewhere })
const byTablet = asking({ kind: 'device', key: keys.tablet, entry: admin })

let desk: AccessDesk
beforeEach(async () => {
  desk = await accessDesk()
})

const recipients = () => desk.published.map(({ relay: to, event }) => [envelopeAddress(event).recipient, to])
const grantIn = (event: NostrEvent, key: TestKey) =>
  parseBody('grant', openVerified(event, key.publicKey, key.with).body, 'production')

describe('the sealed copies of an enrollment request', () => {
  it('go to the owner on its relay and to each device that administers access on that of its grant', async () => {
    await desk.hold(admin, grantEntry())
    const made = await desk.request()
    expect(recipients()).toEqual([
      [keys.owner, relay],
      [keys.tablet, elsewhere],
    ])
    expect(made.devices).toBe(1)
    for (const [index, key] of [owner, tablet].entries()) {
      const { event, until } = desk.published[index] ?? {}
      if (event === undefined) throw new Error('no copy')
      const opened = openVerified(event, key.publicKey, key.with)
      const body = parseBody('enrollment', opened.body, 'production')
      expect(body).toEqual(desk.book().read().enrollments[0]?.request)
      expect(enrollmentDigest(body)).toBe(made.digest)
      expect(opened).toMatchObject({ author: keys.host, mailbox: made.enrollment, issued_at: now })
      expect([opened.retain_until, until]).toEqual([now + 300, now + 300])
    }
  })

  it('leave out who was revoked, has expired, or has a grant of an earlier epoch; a renewal earns one', async () => {
    const other = (scalar: number, changes: object) =>
      grantEntry({ ...admin.grant, grant: id(scalar), device: testKey(scalar).publicKey, ...changes })
    await desk.hold(
      other(20, { revoked_at: now }),
      other(21, { expires_at: now + 10 }),
      other(22, { epoch: 1 }),
      other(23, { grant: id(1) }),
      { ...other(23, { grant: id(2), issued_at: now + 5, relay }), renews: [id(1)] },
    )
    await desk.clock.advance(10_000)
    expect((await desk.request()).devices).toBe(1)
    expect(recipients()).toEqual([
      [keys.owner, relay],
      [testKey(23).publicKey, relay],
    ])
  })

  it('go to sixteen devices at most', async () => {
    const many = Array.from({ length: enrollmentCopiesMax + 4 }, (_, index) =>
      grantEntry({ ...admin.grant, grant: id(index), device: testKey(30 + index).publicKey }),
    )
    await desk.hold(...many)
    expect((await desk.request()).devices).toBe(enrollmentCopiesMax)
    expect(desk.published).toHaveLength(enrollmentCopiesMax + 1)
  })

  it('are sent only when the request is stored, and its code is shown only then', async () => {
    desk.machine.fate = (change) => (change === 'replace' ? 'failed' : 'done')
    await expect(desk.request()).rejects.toMatchObject({ code: 'io' })
    expect(desk.published).toEqual([])
  })
})

describe('an approved enrollment', () => {
  it('gives its device a grant of the approval, which the device is told too', async () => {
    const made = await desk.request()
    const authorization = await approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock))
    const grant = grantIn(authorization, phone)
    expect(grant).toMatchObject({
      device: keys.phone,
      relay,
      rights: ['observe', 'operate'],
      epoch: 0,
      origin: { kind: 'approval', id: made.enrollment, issuer: keys.owner },
      issued_at: now,
      expires_at: now + 86_400,
    })
    expect(desk.published.at(-1)).toEqual({ relay, event: authorization, until: now + 600 })
    expect(desk.enrolled).toEqual([keys.phone])
  })

  it('says which device approved it', async () => {
    await desk.hold(admin)
    const made = await desk.request()
    const authorization = await approveEnrollment(desk.context(), byTablet, approvalOf(made, desk.clock))
    expect(grantIn(authorization, phone).origin.issuer).toBe(keys.tablet)
  })

  it('gives the same grant when it is repeated, however much later, and tells it again', async () => {
    const made = await desk.request()
    const first = await approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock))
    await desk.restart()
    await desk.clock.advance(310_000)
    const again = await approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock))
    expect(again).toEqual(first)
    expect(desk.published.at(-1)?.event).toEqual(first)
    await desk.clock.advance(50_000)
    const late = approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock))
    await expect(late).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('supersedes the grant that its device had, and keeps the epoch', async () => {
    await desk.hold(grantEntry())
    const made = await desk.request()
    await approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock))
    const record = desk.book().read()
    expect(record.grants.map(({ revoked_at }) => revoked_at)).toEqual([now, null])
    expect(currentGrants(record, now).map(({ grant }) => grant.epoch)).toEqual([0])
  })

  it('is one, when several approve it at once', async () => {
    const made = await desk.request()
    const devices = [keys.phone, keys.tablet, keys.stranger, keys.phone]
    const all = await Promise.allSettled(
      devices.map((device) =>
        approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock, { device })),
      ),
    )
    const said = all.map((one) => (one.status === 'fulfilled' ? one.value.id : one.reason.code))
    expect(said).toEqual([said[0], 'conflict', 'conflict', said[0]])
    expect(desk.book().read().grants).toHaveLength(1)
  })

  it('needs an approver that stands when it is decided, not only when it was asked', async () => {
    await desk.hold({ ...admin, revoked_at: now })
    const made = await desk.request()
    const context = desk.context()
    const approval = approveEnrollment(context, byTablet, approvalOf(made, desk.clock))
    await expect(approval).rejects.toMatchObject({ code: 'revoked' })
    const denial = refuseEnrollment(context, byTablet, {
      ...approvalOf(made, desk.clock),
      kind: 'enroll.deny',
    })
    await expect(denial).rejects.toMatchObject({ code: 'revoked' })
    expect(desk.book().read().enrollments[0]).toMatchObject({ denied_at: null, approved: null })
  })

  it('names the right that the approver lacks', async () => {
    await desk.hold(admin)
    const made = await desk.request()
    const op = approvalOf(made, desk.clock, { rights: ['observe', 'review'] })
    await expect(approveEnrollment(desk.context(), byTablet, op)).rejects.toMatchObject({
      code: 'missing_right',
      missing: 'review',
    })
  })
})

describe('wrong codes', () => {
  it('are counted on disk, each before it is refused', async () => {
    const made = await desk.request()
    for (let count = 1; count <= 5; count += 1) {
      const wrong = approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock, { code: 'NO' }))
      await expect(wrong).rejects.toMatchObject({ code: 'wrong_code' })
      await desk.restart()
      expect(desk.book().read().enrollments[0]?.attempts).toBe(count)
    }
    const right = approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock))
    await expect(right).rejects.toMatchObject({ code: 'rate_limited' })
  })

  it('sent at once are no more than five', async () => {
    const made = await desk.request()
    const wrong = (index: number) =>
      approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock, { code: `${index}` }))
    const all = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => wrong(index)))
    const codes = all.map((one) => (one.status === 'rejected' ? one.reason.code : 'granted'))
    expect(codes).toEqual([...Array(5).fill('wrong_code'), ...Array(3).fill('rate_limited')])
  })
})

describe('a denied enrollment', () => {
  it('cannot be approved any more, also after a restart', async () => {
    const made = await desk.request()
    const op = { ...approvalOf(made, desk.clock), kind: 'enroll.deny' } as const
    await refuseEnrollment(desk.context(), asOwner, op)
    await refuseEnrollment(desk.context(), asOwner, op)
    await desk.restart()
    const approval = approveEnrollment(desk.context(), asOwner, approvalOf(made, desk.clock))
    await expect(approval).rejects.toMatchObject({ code: 'denied' })
  })
})
