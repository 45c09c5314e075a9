import { parseInvitation } from '../../src/protocol/invitation.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { rights } from '../../src/protocol/rights.ts'
import { id, keys } from '../support/access.ts'
import type { RefusalStage } from './refusal-stage.ts'

/** What a row asks for, and what it earns: `refused CODE`, or `nothing REASON`. */
export interface RefusalRow {
  readonly earned: string
  readonly by: string
  ask(on: RefusalStage): Promise<string>
}

const list: Operation = { kind: 'workspace.list' }
const nobody = { grant: null, epoch: null }
const aDay = 86_400

/** What earns a refusal because of who asks, and how: the order of the page. @see spec/wire.md §7 */
export const admissionRows: readonly RefusalRow[] = [
  row('nothing from_host', 'a request that the host key signed', (on) =>
    on.silence('from_host', on.host.sign(list).event),
  ),
  row('nothing bad_body', 'a body that is wrong outside its operation', (on) =>
    on.silence('bad_body', on.phone.sign(list, { more: { extra: true } }).event),
  ),
  row('nothing outside_window', 'a window that has not begun', (on) => {
    const issued_at = on.now() + 70
    return on.silence('outside_window', on.phone.sign(list, { issued_at }).event)
  }),
  row('nothing other_host', 'a request that names another host', (on) =>
    on.silence('other_host', on.phone.sign(list, { host: keys.stranger }).event),
  ),
  row('nothing other_relay', 'a request that names another relay', (on) =>
    on.silence('other_relay', on.phone.sign(list, { relay: 'wss://other.example.net/' }).event),
  ),
  row('nothing other_mailbox', 'a mailbox that is not the request', (on) =>
    on.silence('other_mailbox', on.phone.sign(list, {}, id(0x55)).event),
  ),
  row('nothing unknown_capability', 'a redemption with another capability', async (on) => {
    const op = { ...(await redemption(on)), capability: id(0xdd) }
    return on.silence('unknown_capability', on.stranger.sign(op, nobody).event)
  }),

  row('conflict', 'a request ID that another event used', async (on) => {
    const { request, event } = on.phone.sign(list)
    on.phone.send(event)
    await on.phone.replyTo(request)
    return on.refused(on.tablet, list, { request })
  }),
  row('forbidden', 'no grant', (on) => on.refused(on.phone, list, nobody)),
  row('forbidden', 'an unknown grant', (on) => on.refused(on.phone, list, { grant: id(9), epoch: 0 })),
  row('forbidden', 'the grant of another device', (on) =>
    on.refused(on.phone, list, { grant: on.tablet.grant?.grant ?? '', epoch: 0 }),
  ),
  row('revoked', 'a revoked grant', async (on) => {
    const lost = await on.enrolled()
    await on.stage.operator.revoke(lost.key.publicKey)
    return on.refused(lost, list)
  }),
  row('revoked', 'a superseded grant', async (on) => {
    const older = await on.enrolled()
    const { grant } = older.grant ?? { grant: '' }
    await on.redeem(older)
    return on.refused(older, list, { grant, epoch: 0 })
  }),
  row('stale', 'another epoch', (on) =>
    on.refused(on.phone, list, { grant: on.grantOf(on.phone), epoch: 3 }),
  ),
  row('missing_right access_read', 'a right that the grant does not name', (on) =>
    on.refused(on.tablet, { kind: 'device.list' }),
  ),
  row('malformed', 'an operation that nobody knows', (on) =>
    on.refused(on.tablet, list, { op: { kind: 'task.teleport' } }),
  ),
  row('bounds', 'an operation that is too long, of the owner', (on) => {
    const task = { title: 't'.repeat(201), prompt: 'P', workspace: 'site' }
    return on.refused(on.owner, list, { op: { kind: 'task.create', task } })
  }),
]

/** What a redemption may earn, and an approval. @see spec/wire.md §7 */
export const accessRows: readonly RefusalRow[] = [
  row('forbidden', 'a redemption by the owner', async (on) =>
    on.refused(on.owner, await redemption(on), nobody),
  ),
  row('forbidden', 'a redemption by the host key', async (on) =>
    on.refused(on.host, await redemption(on), nobody),
  ),
  row('revoked', 'a redemption of a cancelled invitation', async (on) => {
    const op = await redemption(on)
    await on.stage.operator.uninvite(op.invitation)
    return on.refused(on.stranger, op, nobody)
  }),
  row('forbidden', 'a redemption after another device', async (on) => {
    const op = await redemption(on)
    await on.redeem(await on.fresh(), op)
    return on.refused(on.stranger, op, nobody)
  }),
  row('revoked', 'a redemption of what a device delegated that lost its grant', async (on) => {
    const admin = await on.enrolled([...rights])
    const made = await admin.ask({
      kind: 'invite.create',
      rights: ['observe'],
      grant_expires_at: on.now() + aDay / 2,
    })
    const code = made.status === 'ok' && made.outcome.kind === 'invitation' ? made.outcome.code : ''
    await on.stage.operator.revoke(admin.key.publicKey)
    const { invitation, capability } = parseInvitation(code, 'loopback_test')
    return on.refused(on.stranger, { kind: 'enroll.redeem', invitation, capability }, nobody)
  }),
  row('revoked', 'a redemption by the device that was revoked since', async (on) => {
    const op = await redemption(on)
    const lost = await on.fresh()
    await on.redeem(lost, op)
    await on.stage.operator.revoke(lost.key.publicKey)
    return on.refused(lost, op, nobody)
  }),

  row('missing_right access_admin', 'an approver who may not', async (on) =>
    on.refused(on.tablet, await on.approval()),
  ),
  row('forbidden', 'an approval of a digest that is no request', async (on) =>
    on.refused(on.owner, { ...(await on.approval()), request_digest: `sha256:${id(7)}` }),
  ),
  row('denied', 'an approval of what was denied', async (on) => {
    const { enrollment, request_digest, ...rest } = await on.approval()
    await on.owner.ask({ kind: 'enroll.deny', enrollment, request_digest })
    return on.refused(on.owner, { ...rest, enrollment, request_digest })
  }),
  row('wrong_code', 'an approval with another code', async (on) =>
    on.refused(on.owner, { ...(await on.approval()), code: 'ZZZZ-ZZZZ' }),
  ),
  row('rate_limited', 'an approval after five wrong codes', async (on) => {
    const op = await on.approval()
    for (let time = 0; time < 5; time += 1) await on.owner.ask({ ...op, code: 'ZZZZ-ZZZZ' })
    return on.refused(on.owner, op)
  }),
  row('forbidden', 'an approval of the owner as the device', async (on) =>
    on.refused(on.owner, { ...(await on.approval()), device: keys.owner }),
  ),
  row('forbidden', 'an approval of more than was asked for', async (on) =>
    on.refused(on.owner, { ...(await on.approval()), rights: ['observe', 'operate', 'review'] }),
  ),
  row('missing_right operate', 'an approval of more than the approver holds', async (on) =>
    on.refused(await on.enrolled(['observe', 'access_admin']), await on.approval()),
  ),
  row('forbidden', 'an approval for longer than thirty days', async (on) =>
    on.refused(on.owner, { ...(await on.approval()), grant_expires_at: on.now() + 31 * aDay }),
  ),
  row('conflict', 'an approval after that of another device', async (on) => {
    const op = await on.approval()
    await on.owner.ask(op)
    return on.refused(on.owner, { ...op, device: keys.tablet })
  }),
  row('conflict', 'a denial of what was approved', async (on) => {
    const op = await on.approval()
    await on.owner.ask(op)
    const { enrollment, request_digest } = op
    return on.refused(on.owner, { kind: 'enroll.deny', enrollment, request_digest })
  }),

  row('missing_right review', 'an invitation to more than the inviter holds', async (on) => {
    const admin = await on.enrolled(['observe', 'access_admin'])
    return on.refused(admin, {
      kind: 'invite.create',
      rights: ['review'],
      grant_expires_at: on.now() + 3_600,
    })
  }),
  row('forbidden', 'an invitation whose grant would end before it', (on) =>
    on.refused(on.owner, { kind: 'invite.create', rights: ['observe'], grant_expires_at: on.now() + 60 }),
  ),
  row('forbidden', 'a cancel of an unknown invitation', (on) =>
    on.refused(on.owner, { kind: 'invite.cancel', invitation: id(0xee) }),
  ),
  row('conflict', 'a cancel of a redeemed invitation', async (on) => {
    const op = await redemption(on)
    await on.redeem(await on.fresh(), op)
    return on.refused(on.owner, { kind: 'invite.cancel', invitation: op.invitation })
  }),
  row('forbidden', 'a revocation of a device that nobody knows', (on) =>
    on.refused(on.owner, { kind: 'device.revoke', device: keys.stranger }),
  ),
]

export function row(earned: string, by: string, ask: RefusalRow['ask']): RefusalRow {
  return { earned, by, ask }
}

async function redemption(on: RefusalStage): Promise<Extract<Operation, { kind: 'enroll.redeem' }>> {
  const { invitation, capability } = parseInvitation(await on.stage.invite(), 'loopback_test')
  return { kind: 'enroll.redeem', invitation, capability }
}
