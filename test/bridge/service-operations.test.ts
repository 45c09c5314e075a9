import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseInvitation } from '../../src/protocol/invitation.ts'
import { presenceMailbox } from '../../src/protocol/mailbox.ts'
import type { QueueEdit } from '../../src/protocol/operations/commands.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { id } from '../support/access.ts'
import { type BridgeStage, bridgeStage, ownerKey, redeem } from '../support/bridge-stage.ts'
import { outcome, refusal } from '../support/results.ts'
import type { WirePeer } from '../support/wire-peer.ts'

let stage: BridgeStage
let phone: WirePeer
let tablet: WirePeer

beforeAll(async () => {
  stage = await bridgeStage()
  phone = await stage.device(13, ['observe', 'operate', 'access_read', 'access_admin'])
  tablet = await stage.device(14)
})
afterAll(() => stage.end())

const create = async (title: string, request?: string): Promise<string> => {
  const task = { title, prompt: 'Sort the entries.', workspace: 'site' }
  const result = await phone.ask({ kind: 'task.create', task }, request === undefined ? {} : { request })
  return outcome(result, 'dispatched').receipt.reference
}
const command = (peer: WirePeer, task: string, changes: object) =>
  peer.ask({
    kind: 'task.command',
    command: {
      command: id(0x11),
      task,
      action: 'queue',
      based_on: 1,
      text: 'And then the index.',
      emulate: false,
      issued_at: nowSeconds(systemClock),
      ...changes,
    },
  })
const queue = async (peer: WirePeer, task: string, edit: QueueEdit) =>
  await peer.ask({ kind: 'task.queue', task, edit })

describe('tasks over the wire', () => {
  it('a workspace is listed by its label alone', async () => {
    const listed = await phone.ask({ kind: 'workspace.list' })
    expect(outcome(listed, 'workspaces').workspaces).toEqual(['site'])
  })

  it('a created task has the ID that follows from device and request', async () => {
    const request = id(0x21)
    expect(await create('Tidy', request)).toBe(deviceTaskId(phone.key.publicKey, request))
  })

  it('the same request signed anew finds its task; another title or prompt is a conflict', async () => {
    const task = { title: 'Twice', prompt: 'Sort the entries.', workspace: 'site' }
    const request = id(0x22)
    const first = phone.sign({ kind: 'task.create', task }, { request })
    phone.send(first.event)
    await phone.replyTo(request)
    await stage.stop()
    await stage.start()
    const again = await phone.ask({ kind: 'task.create', task: { ...task, title: 'Other' } }, { request })
    // The first event's answer is kept until it expires, and the ID is its own until then.
    expect(refusal(again)).toBe('conflict')
    expect((await stage.service().status()).tasks).toMatchObject({ queued: 2 })
  })

  it('tasks are listed newest first, in pages', async () => {
    for (const title of ['One', 'Two', 'Three']) await create(title)
    const titles: string[] = []
    let cursor: string | null = null
    do {
      const result = await phone.ask({ kind: 'task.list', query: { workspace: 'site', cursor, limit: 2 } })
      const { items, next } = outcome(result, 'tasks').tasks
      expect(items.length).toBeLessThanOrEqual(2)
      titles.push(...items.map((item) => item.title))
      cursor = next
    } while (cursor !== null)
    expect([...titles].sort()).toEqual(['One', 'Three', 'Tidy', 'Twice', 'Two'])
  })

  it('a task is read with what its engine can do', async () => {
    const task = await create('Read me')
    const query = { workspace: 'site', task, revision: null, cursor: null, limit: 10 }
    const read = outcome(await phone.ask({ kind: 'task.read', query }), 'task').task
    expect(read).toMatchObject({
      task,
      title: 'Read me',
      workspace: 'site',
      revision: 1,
      status: 'queued',
      phase: 'queued',
      attention: 'none',
      turn: 1,
      turn_start_revision: 1,
      steering: { native: 'turn_boundary', emulation: null },
      evidence: 'not_started',
      steps: [],
      next: null,
    })
    const stale = await phone.ask({ kind: 'task.read', query: { ...query, revision: 7 } })
    expect(refusal(stale)).toBe('stale')
  })

  it('steer corrects, cancel cancels, archive hides', async () => {
    const task = await create('Change me')
    const steered = await phone.ask({ kind: 'task.steer', task, revision: 1, prompt: 'Only the last.' })
    expect(outcome(steered, 'dispatched').receipt).toEqual({ operation: 'task.steer', reference: task })
    const late = await phone.ask({ kind: 'task.cancel', task, revision: 1, reason: 'Enough' })
    expect(refusal(late)).toBe('stale')
    outcome(await phone.ask({ kind: 'task.cancel', task, revision: 2, reason: 'Enough' }), 'dispatched')
    outcome(await phone.ask({ kind: 'task.archive', task }), 'dispatched')
    outcome(await phone.ask({ kind: 'task.archive', task }), 'dispatched')
    const query = { workspace: 'site', cursor: null, limit: 32 }
    const listed = outcome(await phone.ask({ kind: 'task.list', query }), 'tasks').tasks
    expect(listed.items.some((item) => item.task === task)).toBe(false)
  })
})

describe('the queue over the wire', () => {
  it('holds messages, which their device may reorder and edit under its lease', async () => {
    const task = await create('Queue')
    const [first, second] = [id(0x31), id(0x32)]
    outcome(await command(phone, task, { command: first, text: 'First' }), 'dispatched')
    outcome(await command(phone, task, { command: second, text: 'Second' }), 'dispatched')
    outcome(await queue(phone, task, { action: 'lease' }), 'queue')
    outcome(await queue(phone, task, { action: 'reorder', commands: [second, first] }), 'queue')
    outcome(await queue(phone, task, { action: 'edit', command: first, text: 'First, edited' }), 'queue')
    const { queue: view } = outcome(await queue(phone, task, { action: 'list' }), 'queue')
    expect(view.lease?.device).toBe(phone.key.publicKey)
    expect(view.items.map((item) => item.text)).toEqual(['Second', 'First, edited'])
    const { queue: others } = outcome(await queue(tablet, task, { action: 'list' }), 'queue')
    expect(others.items.map((item) => item.text)).toEqual([null, null])
  })

  it('gives the owner, near and far, the same queue', async () => {
    const task = await create('Owner')
    const owner = await stage.peer(12)
    expect(owner.key.publicKey).toBe(ownerKey.publicKey)
    outcome(await command(owner, task, { command: id(0x41), text: 'From the owner' }), 'dispatched')
    const { items } = await stage.operator.editQueue(task, { action: 'list' })
    expect(items.map((item) => item.text)).toEqual(['From the owner'])
  })

  it('leaves texts out from the end when they do not fit one answer', async () => {
    const task = await create('Long')
    for (let index = 0; index < 4; index += 1) {
      const text = String(index).repeat(12_000)
      outcome(await command(phone, task, { command: id(0x51 + index), text }), 'dispatched')
    }
    const { queue: view } = outcome(await queue(phone, task, { action: 'list' }), 'queue')
    expect(view.items.map((item) => item.text?.length ?? null)).toEqual([12_000, 12_000, null, null])
  })
})

describe('access over the wire', () => {
  it('lists devices with when they were heard', async () => {
    const { devices } = outcome(await phone.ask({ kind: 'device.list' }), 'devices')
    const mine = devices.find((entry) => entry.device === phone.key.publicKey)
    expect(mine).toMatchObject({ state: 'active', epoch: 0, origin: 'invitation', grant: phone.grant?.grant })
    expect(mine?.last_seen).toBeGreaterThan(nowSeconds(systemClock) - 60)
  })

  it('an invitation of a device can be redeemed, by one device only, and gives no more than it has', async () => {
    const grant_expires_at = nowSeconds(systemClock) + 3_600
    const made = await phone.ask({ kind: 'invite.create', rights: ['observe'], grant_expires_at })
    const { code, invitation } = outcome(made, 'invitation')
    expect(parseInvitation(code, 'loopback_test').invitation).toBe(invitation)
    const watch = await stage.peer(16)
    const grant = await redeem(watch, code)
    expect(grant).toMatchObject({
      rights: ['observe'],
      origin: { kind: 'invitation', id: invitation, issuer: phone.key.publicKey },
    })
    expect((await redeem(watch, code)).grant).toBe(grant.grant)
    const other = await stage.peer(17)
    await expect(redeem(other, code)).rejects.toThrow('forbidden')
    const wide = await phone.ask({ kind: 'invite.create', rights: ['review'], grant_expires_at })
    expect(refusal(wide)).toBe('missing_right review')
  })

  it('a cancelled invitation is revoked', async () => {
    const grant_expires_at = nowSeconds(systemClock) + 3_600
    const made = await phone.ask({ kind: 'invite.create', rights: ['observe'], grant_expires_at })
    const { code, invitation } = outcome(made, 'invitation')
    expect(outcome(await phone.ask({ kind: 'invite.cancel', invitation }), 'cancelled').invitation).toBe(
      invitation,
    )
    await expect(redeem(await stage.peer(18), code)).rejects.toThrow('revoked')
  })

  it('a revocation ends the device at once, and its held messages', async () => {
    const lost = await stage.device(19)
    const task = await create('Revoked')
    outcome(await command(lost, task, { command: id(0x61) }), 'dispatched')
    const revoked = await phone.ask({ kind: 'device.revoke', device: lost.key.publicKey })
    expect(outcome(revoked, 'revoked')).toMatchObject({ epoch: 1, grants: [lost.grant?.grant] })
    expect(refusal(await lost.ask({ kind: 'workspace.list' }))).toBe('revoked')
    await expect
      .poll(async () => (await stage.operator.commands({ task, from: 0 })).entries[0]?.state)
      .toMatchObject({ state: 'done', reason: 'revoked' })
  })

  it('each enrolled device is told that the host is there', async () => {
    const mailbox = presenceMailbox(tablet.key.with(stage.host))
    const presence = await tablet.until((event) => event.tags.some((tag) => tag[1] === mailbox))
    expect(presence.pubkey).toBe(stage.host)
  })

  it('operations whose owner this host does not have are unavailable', async () => {
    expect(refusal(await phone.ask({ kind: 'chats.invite' }))).toBe('unavailable')
    const op = { kind: 'enroll.deny', enrollment: id(1), request_digest: `sha256:${id(2)}` } as const
    expect(refusal(await phone.ask(op))).toBe('forbidden')
  })
})

describe('what is logged', () => {
  it('names no title, prompt, message or invitation', async () => {
    const said = stage.lines.join('')
    expect(said).not.toContain('Sort the entries')
    expect(said).not.toContain('And then the index')
    expect(said).not.toContain('coder-host:')
  })
})
