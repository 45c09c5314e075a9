import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { renews } from '../../src/device/authorization.ts'
import type { Grant } from '../../src/protocol/bodies/grant.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import { approvalOf } from '../support/access-desk.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { refusal } from '../support/results.ts'

const [owner, phone, tablet] = [testKey(12), testKey(13), testKey(14)]
const list: Operation = { kind: 'workspace.list' }
const life = 4_000
const nearItsEnd = 3_100_000

let bridge: QuietBridge
let held: Grant
beforeEach(async () => {
  bridge = await quietBridge()
  held = await bridge.enroll(phone, ['observe', 'operate'], life)
})
afterEach(() => bridge.stop())

/** The events by which the host gave the phone a grant unasked, each time that it published one. */
const given = (): { event: NostrEvent; grant: Grant }[] =>
  bridge.published().flatMap((event) => {
    if (!event.tags.some((tag) => tag[0] === 'p' && tag[1] === phone.publicKey)) return []
    const { schema, body, mailbox } = openVerified(event, phone.publicKey, phone.with)
    if (schema !== 'openagents.host-grant.v1') return []
    const grant = parseBody('grant', body, 'production')
    expect(mailbox).toBe(grant.grant)
    return [{ event, grant }]
  })
const under = ({ grant, epoch }: Grant) => ({ grant, epoch })
const hear = (grant: Grant, op: Operation = list) => bridge.ask(phone, op, under(grant))
/** Lets the phone be heard near the end of its grant, and gives the renewal. */
async function renewed(grant: Grant): Promise<Grant> {
  const before = given().length
  expect(await hear(grant)).toMatchObject({ status: 'ok' })
  await expect.poll(() => given().length).toBe(before + 1)
  const last = given().at(-1)
  if (last === undefined) throw new Error('nothing was given')
  bridge.connection().say('OK', last.event.id, true, '')
  return last.grant
}

describe('a device that is heard', () => {
  it('before the last quarter of its grant gets no renewal', async () => {
    bridge.clock.jump(2_990_000)
    await hear(held)
    await hear(held)
    expect(given()).toEqual([])
  })

  it('in the last quarter gets a grant of the same terms and lifetime, which its rules accept', async () => {
    bridge.clock.jump(nearItsEnd)
    const next = await renewed(held)
    expect(renews(next, held)).toBe(true)
    expect(next.issued_at).toBe(held.issued_at + 3_100)
    expect(next.expires_at - next.issued_at).toBe(life)
    expect(await hear(next)).toMatchObject({ status: 'ok' })
    expect(await hear(held)).toMatchObject({ status: 'ok' })
    bridge.clock.jump(900_000)
    expect(refusal(await hear(held))).toBe('expired')
    expect(await hear(next)).toMatchObject({ status: 'ok' })
  })

  it('many times at once is renewed once, in one event', async () => {
    bridge.clock.jump(nearItsEnd)
    const questions = Array.from({ length: 12 }, () => bridge.sign(phone, list, under(held)))
    for (const { event } of questions) bridge.deliver(event)
    for (const question of questions) await bridge.answers(question)
    await expect.poll(() => given().length).toBe(1)
    expect(await bridge.operator.devices()).toHaveLength(2)
  })

  it('under the old grant still is told the same renewal again, at most every 300 s', async () => {
    bridge.clock.jump(nearItsEnd)
    await renewed(held)
    for (const [seconds, times] of [
      [290, 1],
      [15, 2],
      [10, 2],
    ] as const) {
      bridge.clock.jump(seconds * 1000)
      await hear(held)
      expect(given()).toHaveLength(times)
    }
    expect(new Set(given().map(({ event }) => event.id)).size).toBe(1)
  })

  it('is renewed by a service that was restarted as by the one before', async () => {
    bridge.clock.jump(nearItsEnd)
    const next = await renewed(held)
    await bridge.stop()
    await bridge.start()
    await hear(held)
    await expect.poll(() => given().length).toBe(2)
    expect(given().at(-1)?.grant).toEqual(next)
  })

  it('under a renewal near its end is renewed again', async () => {
    bridge.clock.jump(nearItsEnd)
    const next = await renewed(held)
    bridge.clock.jump(nearItsEnd)
    const third = await renewed(next)
    expect(renews(third, next)).toBe(true)
    const states = (await bridge.operator.devices()).map(({ grant, state }) => [grant, state])
    expect(states).toEqual([
      [third.grant, 'active'],
      [next.grant, 'active'],
    ])
  })

  it('is not renewed when a device let it in', async () => {
    await bridge.enroll(tablet, ['observe', 'operate', 'access_admin'])
    const made = await bridge.operator.requestEnrollment({ rights: ['observe'], relay: null })
    const grant_expires_at = Math.floor(bridge.clock.nowMs() / 1000) + 1_000
    const op = approvalOf(made, bridge.clock, { rights: ['observe'], grant_expires_at })
    await bridge.ask(tablet, op)
    await expect.poll(() => given().length).toBe(1)
    const [approved] = given()
    if (approved === undefined) throw new Error('not approved')
    bridge.clock.jump(900_000)
    // Having no right to it is being heard, too.
    expect(refusal(await hear(approved.grant))).toBe('missing_right operate')
    expect(given()).toHaveLength(1)
  })

  it('is renewed when the owner let it in', async () => {
    const made = await bridge.operator.requestEnrollment({ rights: ['operate'], relay: null })
    const grant_expires_at = Math.floor(bridge.clock.nowMs() / 1000) + 1_000
    await bridge.ask(owner, approvalOf(made, bridge.clock, { rights: ['operate'], grant_expires_at }))
    const approved = given()[0]?.grant
    if (approved === undefined) throw new Error('not approved')
    bridge.clock.jump(800_000)
    expect((await renewed(approved)).origin).toEqual(approved.origin)
  })
})

describe('what ends a grant and its renewal', () => {
  it('is the revocation of their device', async () => {
    bridge.clock.jump(nearItsEnd)
    const next = await renewed(held)
    const { grants } = await bridge.operator.revoke(phone.publicKey)
    expect([...grants].sort()).toEqual([held.grant, next.grant].sort())
    for (const grant of [held, next]) expect(refusal(await hear(grant))).toBe('revoked')
  })

  it('is a fresh invitation for their device', async () => {
    bridge.clock.jump(nearItsEnd)
    const next = await renewed(held)
    const fresh = await bridge.enroll(phone, ['observe', 'operate'], life)
    for (const grant of [held, next]) expect(refusal(await hear(grant))).toBe('revoked')
    expect(await hear(fresh)).toMatchObject({ status: 'ok' })
  })
})

describe('a message that waits', () => {
  it('goes on waiting when the grant that it came under is renewed, over, and forgotten', async () => {
    const task = { title: 'Tidy', prompt: 'Sort the entries.', workspace: 'site' }
    const created = await hear(held, { kind: 'task.create', task })
    if (created.status !== 'ok' || created.outcome.kind !== 'dispatched') throw new Error('not created')
    const command = {
      command: randomId(systemRandom),
      task: created.outcome.receipt.reference,
      action: 'queue',
      based_on: 1,
      text: 'And then the index.',
      emulate: false,
      issued_at: Math.floor(bridge.clock.nowMs() / 1000),
    } as const
    await hear(held, { kind: 'task.command', command })
    bridge.clock.jump(nearItsEnd)
    const next = await renewed(held)
    bridge.clock.jump(1_000_000)
    expect(await hear(next)).toMatchObject({ status: 'ok' })
    expect(await bridge.operator.devices()).toMatchObject([{ grant: next.grant, state: 'active' }])
    await bridge.clock.advance(10_000)
    const state = async () =>
      (await bridge.operator.commands({ task: null, from: 0 })).entries[0]?.state.state
    expect(await state()).toBe('held')
    await bridge.operator.revoke(phone.publicKey)
    await expect.poll(state).toBe('done')
  })
})
