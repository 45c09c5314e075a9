import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified } from '../../src/protocol/envelope.ts'
import { parseInvitation } from '../../src/protocol/invitation.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import type { Right } from '../../src/protocol/rights.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome, refusal } from '../support/results.ts'

const [phone, tablet] = [testKey(13), testKey(14)]
const administers: Right[] = ['observe', 'operate', 'access_admin']
const life = 4_000
const bare = { grant: null, epoch: null }

let bridge: QuietBridge
let ends: number
beforeEach(async () => {
  bridge = await quietBridge()
  ends = (await bridge.enroll(tablet, administers, life)).expires_at
})
afterEach(() => bridge.stop())

const invite = (changes: Partial<{ rights: Right[]; grant_expires_at: number }> = {}) =>
  bridge.ask(tablet, { kind: 'invite.create', rights: ['observe'], grant_expires_at: ends, ...changes })
async function invited(): Promise<Operation> {
  const { code } = outcome(await invite(), 'invitation')
  const { invitation, capability } = parseInvitation(code, 'production')
  return { kind: 'enroll.redeem', invitation, capability }
}
const redeem = (op: Operation) => bridge.ask(phone, op, bare)

describe('a device that administers access', () => {
  it('invites to what it holds, as long as it holds it, and is named as the issuer', async () => {
    const { authorization } = outcome(await redeem(await invited()), 'granted')
    const { body } = openVerified(authorization, phone.publicKey, phone.with)
    expect(parseBody('grant', body, 'production')).toMatchObject({
      device: phone.publicKey,
      rights: ['observe'],
      origin: { kind: 'invitation', issuer: tablet.publicKey },
      expires_at: ends,
    })
  })

  const refused: [string, Parameters<typeof invite>[0] | (() => object), string][] = [
    ['to a right that it lacks', { rights: ['review'] }, 'missing_right review'],
    [
      'to several, naming the first',
      { rights: ['observe', 'terminal', 'access_read'] },
      'missing_right terminal',
    ],
    ['for longer than its own grant', () => ({ grant_expires_at: ends + 1 }), 'forbidden'],
    ['for no longer than the invitation', () => ({ grant_expires_at: ends - life + 300 }), 'forbidden'],
  ]
  for (const [name, changes, refusalText] of refused) {
    it(`cannot invite ${name}`, async () => {
      expect(refusal(await invite(typeof changes === 'function' ? changes() : changes))).toBe(refusalText)
    })
  }

  it('cannot do so without that right', async () => {
    await bridge.enroll(phone, ['observe', 'operate', 'access_read'])
    const op: Operation = { kind: 'invite.create', rights: ['observe'], grant_expires_at: ends }
    expect(refusal(await bridge.ask(phone, op))).toBe('missing_right access_admin')
  })
})

describe('an invitation of a device', () => {
  it('falls with the device', async () => {
    const op = await invited()
    await bridge.operator.revoke(tablet.publicKey)
    expect(refusal(await redeem(op))).toBe('revoked')
  })

  it('falls with the grant that it was made under', async () => {
    const op = await invited()
    await bridge.enroll(tablet, administers, life)
    expect(refusal(await redeem(op))).toBe('revoked')
  })

  it('stands when that grant is renewed meanwhile', async () => {
    bridge.clock.jump(3_500_000)
    const op = await invited()
    await expect.poll(async () => (await bridge.operator.devices()).length).toBe(2)
    bridge.clock.jump(290_000)
    outcome(await redeem(op), 'granted')
  })

  it('falls when it is cancelled by a device that may', async () => {
    const op = await invited()
    if (op.kind !== 'enroll.redeem') throw new Error('no invitation')
    await bridge.ask(tablet, { kind: 'invite.cancel', invitation: op.invitation })
    expect(refusal(await redeem(op))).toBe('revoked')
  })

  it('redeemed before its device was revoked gives the same grant again', async () => {
    const op = await invited()
    const first = outcome(await redeem(op), 'granted')
    await bridge.operator.revoke(tablet.publicKey)
    expect(outcome(await redeem(op), 'granted')).toEqual(first)
  })
})
