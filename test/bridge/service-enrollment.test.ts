import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MadeEnrollment } from '../../src/bridge/operations/enrollments.ts'
import { homePaths } from '../../src/bridge/paths.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified } from '../../src/protocol/envelope.ts'
import type { Operation, OperationOf } from '../../src/protocol/operations.ts'
import type { Right } from '../../src/protocol/rights.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { approvalOf } from '../support/access-desk.ts'
import { bridgeStage } from '../support/bridge-stage.ts'
import { type TestKey, testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'

const [owner, phone, tablet, stranger] = [testKey(12), testKey(13), testKey(14), testKey(15)]
const administers: Right[] = ['observe', 'operate', 'access_admin']
const list: Operation = { kind: 'workspace.list' }

let bridge: QuietBridge
beforeEach(async () => {
  bridge = await quietBridge()
})
afterEach(() => bridge.stop())

const request = (rights: Right[] = ['observe', 'operate', 'review']) =>
  bridge.operator.requestEnrollment({ rights, relay: null })
const approval = (made: MadeEnrollment, changes: Partial<OperationOf<'enroll.approve'>> = {}) =>
  approvalOf(made, bridge.clock, changes)
const denial = ({ enrollment, digest }: MadeEnrollment): Operation => ({
  kind: 'enroll.deny',
  enrollment,
  request_digest: digest,
})
/** What the host sealed to a key in a mailbox, opened. */
const sealedTo = (key: TestKey, mailbox: string) =>
  bridge
    .published()
    .filter(({ tags }) => tags.some((tag) => tag[0] === 'h' && tag[1] === mailbox))
    .filter(({ tags }) => tags.some((tag) => tag[0] === 'p' && tag[1] === key.publicKey))
    .map((event) => openVerified(event, key.publicKey, key.with).body)
const refusal = (result: Awaited<ReturnType<QuietBridge['ask']>>) =>
  result.status === 'refused' ? [result.code, result.missing] : result.outcome.kind

describe('an enrollment at a running service', () => {
  it('reaches the owner, whose approval the device hears of and can act on', async () => {
    const made = await request()
    const [copy] = sealedTo(owner, made.enrollment)
    expect(parseBody('enrollment', copy, 'production')).toMatchObject({
      enrollment: made.enrollment,
      host: bridge.host,
      owner: owner.publicKey,
      relay: made.relay,
      rights: ['observe', 'operate', 'review'],
      expires_at: made.expires_at,
    })
    const result = await bridge.ask(owner, approval(made))
    if (result.status !== 'ok' || result.outcome.kind !== 'granted') throw new Error('not granted')
    const { authorization } = result.outcome
    const { body } = openVerified(authorization, phone.publicKey, phone.with)
    const grant = parseBody('grant', body, 'production')
    expect(sealedTo(phone, grant.grant)).toEqual([body])
    const asked = bridge.ask(phone, list, { grant: grant.grant, epoch: grant.epoch })
    expect(await asked).toMatchObject({ status: 'ok' })
    expect(await bridge.operator.devices()).toMatchObject([
      { device: phone.publicKey, grant: grant.grant, origin: 'approval', state: 'active' },
    ])
  })

  it('needs access_admin of a device, and no more than it holds', async () => {
    await bridge.enroll(phone)
    await bridge.enroll(tablet, administers)
    const made = await request()
    expect(sealedTo(tablet, made.enrollment)).toHaveLength(1)
    expect(sealedTo(phone, made.enrollment)).toHaveLength(0)
    const device = stranger.publicKey
    const op = approval(made, { device, grant_expires_at: Math.floor(bridge.clock.nowMs() / 1000) + 3_600 })
    expect(refusal(await bridge.ask(phone, op))).toEqual(['missing_right', 'access_admin'])
    const more = { ...op, rights: ['observe', 'review'] as Right[] }
    expect(refusal(await bridge.ask(tablet, more))).toEqual(['missing_right', 'review'])
    expect(refusal(await bridge.ask(tablet, op))).toBe('granted')
  })

  it('answers the same event with the same bytes, and counts its wrong code once', async () => {
    const made = await request()
    const question = bridge.sign(owner, approval(made, { code: 'NO' }))
    bridge.deliver(question.event)
    await bridge.answers(question)
    for (let again = 2; again <= 4; again += 1) {
      bridge.clock.jump(6_000)
      bridge.deliver(question.event)
      const copies = await bridge.answers(question, again)
      expect(new Set(copies.map(({ id }) => id)).size).toBe(1)
    }
    for (let wrong = 2; wrong <= 5; wrong += 1) {
      const result = await bridge.ask(owner, approval(made, { code: 'NO' }))
      expect(refusal(result)).toEqual(['wrong_code', null])
    }
    expect(refusal(await bridge.ask(owner, approval(made)))).toEqual(['rate_limited', null])
  })

  it('outlives a restart of the service, as does what became of it', async () => {
    const made = await request()
    await bridge.stop()
    await bridge.start()
    const first = await bridge.ask(owner, approval(made))
    await bridge.stop()
    await bridge.start()
    expect(await bridge.ask(owner, approval(made))).toEqual(first)
    const other = approval(made, { device: tablet.publicKey })
    expect(refusal(await bridge.ask(owner, other))).toEqual(['conflict', null])
    expect(refusal(await bridge.ask(owner, denial(made)))).toEqual(['conflict', null])
  })

  it('is denied for good', async () => {
    const made = await request()
    expect(refusal(await bridge.ask(owner, denial(made)))).toBe('denied')
    expect(refusal(await bridge.ask(owner, denial(made)))).toBe('denied')
    expect(refusal(await bridge.ask(owner, approval(made)))).toEqual(['denied', null])
  })

  it('is over after five minutes, and unknown a minute later, though nothing was written since', async () => {
    const made = await request()
    bridge.clock.jump(300_000)
    expect(refusal(await bridge.ask(owner, approval(made)))).toEqual(['expired', null])
    bridge.clock.jump(60_000)
    expect(refusal(await bridge.ask(owner, approval(made)))).toEqual(['forbidden', null])
  })

  it('makes the host hear strangers while it waits, and no longer', async () => {
    const made = await request()
    expect(refusal(await bridge.ask(stranger, list, { grant: null, epoch: null }))).toEqual([
      'forbidden',
      null,
    ])
    await bridge.ask(owner, denial(made))
    bridge.deliver(bridge.sign(stranger, list).event)
    await bridge.untilCounted('stranger_closed')
  })

  it('is asked of nobody when no service runs', async () => {
    await bridge.stop()
    await expect(request()).rejects.toMatchObject({ code: 'not_running', hint: 'drawbridge serve' })
    const { enrollments } = JSON.parse(await readFile(homePaths(bridge.home).access, 'utf8'))
    expect(enrollments).toEqual([])
    await bridge.start()
  })

  it('names a relay that the host serves', async () => {
    const elsewhere = bridge.operator.requestEnrollment({
      rights: ['observe'],
      relay: 'wss://other.example/',
    })
    await expect(elsewhere).rejects.toMatchObject({ code: 'configuration' })
  })
})

describe('what is logged of an enrollment', () => {
  it('is that an operation was refused, and neither the code nor what was typed for it', async () => {
    const stage = await bridgeStage()
    try {
      const made = await stage.operator.requestEnrollment({ rights: ['observe'], relay: null })
      const peer = await stage.peer(12)
      const op = approvalOf(made, systemClock, { rights: ['observe'] })
      expect(refusal(await peer.ask({ ...op, code: 'MINE-NOT1' }))).toEqual(['wrong_code', null])
      expect(refusal(await peer.ask(op))).toBe('granted')
      const said = stage.lines.join('')
      expect(said).toContain('enroll.approve')
      for (const secret of [made.code, made.code.replace('-', ''), 'MINE']) expect(said).not.toContain(secret)
    } finally {
      await stage.end()
    }
  })
})
