import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { id } from '../support/access.ts'
import { type BridgeStage, bridgeStage, redeem } from '../support/bridge-stage.ts'
import { testKey } from '../support/keys.ts'
import { outcome, refusal } from '../support/results.ts'
import { type WirePeer, wirePeer } from '../support/wire-peer.ts'

const list: Operation = { kind: 'workspace.list' }
let stage: BridgeStage
let phone: WirePeer
let tablet: WirePeer

beforeAll(async () => {
  stage = await bridgeStage()
  phone = await stage.device(13)
  tablet = await stage.device(14)
})
afterAll(() => stage.end())

const create = async (title: string): Promise<string> => {
  const task = { title, prompt: 'Sort the entries.', workspace: 'site' }
  return outcome(await phone.ask({ kind: 'task.create', task }), 'dispatched').receipt.reference
}
const command = (task: string, changes: object): Operation => ({
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

describe('what earns a signed refusal', () => {
  it('a wrong signer: a device that names no grant', async () => {
    expect(refusal(await phone.ask(list, { grant: null, epoch: null }))).toBe('forbidden')
  })

  it('an unknown grant', async () => {
    expect(refusal(await phone.ask(list, { grant: id(9), epoch: 0 }))).toBe('forbidden')
  })

  it('a copied grant', async () => {
    const copied = { grant: tablet.grant?.grant ?? '', epoch: 0 }
    expect(refusal(await phone.ask(list, copied))).toBe('forbidden')
  })

  it('a stale epoch', async () => {
    expect(refusal(await phone.ask(list, { grant: phone.grant?.grant ?? '', epoch: 5 }))).toBe('stale')
  })

  it('a missing right, by its name', async () => {
    expect(refusal(await phone.ask({ kind: 'device.list' }))).toBe('missing_right access_read')
    const device = tablet.key.publicKey
    expect(refusal(await phone.ask({ kind: 'device.revoke', device }))).toBe('missing_right access_admin')
  })

  it('a reused request ID', async () => {
    const sent = phone.sign(list)
    phone.send(sent.event)
    await phone.replyTo(sent.request)
    expect(refusal(await phone.ask(list, { request: sent.request }))).toBe('conflict')
    expect(refusal(await tablet.ask(list, { request: sent.request }))).toBe('conflict')
  })

  it('a reused command ID with other text', async () => {
    const task = await create('Reuse')
    const same = { command: id(0x21), issued_at: nowSeconds(systemClock) }
    outcome(await phone.ask(command(task, same)), 'dispatched')
    outcome(await phone.ask(command(task, same)), 'dispatched')
    expect(refusal(await phone.ask(command(task, { ...same, text: 'Other' })))).toBe('conflict')
  })

  it('a command for an unknown task', async () => {
    expect(refusal(await phone.ask(command(id(0x99), { command: id(0x31) })))).toBe('forbidden')
    const read = { workspace: 'site', task: id(0x99), revision: null, cursor: null, limit: 1 }
    expect(refusal(await phone.ask({ kind: 'task.read', query: read }))).toBe('forbidden')
  })

  it('an unknown workspace', async () => {
    const task = { title: 'T', prompt: 'P', workspace: 'nowhere' }
    expect(refusal(await phone.ask({ kind: 'task.create', task }))).toBe('forbidden')
  })

  it('a lease held by another device, and an edit of its message', async () => {
    const task = await create('Lease')
    outcome(await phone.ask(command(task, { command: id(0x41) })), 'dispatched')
    outcome(await phone.ask({ kind: 'task.queue', task, edit: { action: 'lease' } }), 'queue')
    const lease = await tablet.ask({ kind: 'task.queue', task, edit: { action: 'lease' } })
    expect(refusal(lease)).toBe('conflict')
    outcome(await phone.ask({ kind: 'task.queue', task, edit: { action: 'release' } }), 'queue')
    outcome(await tablet.ask({ kind: 'task.queue', task, edit: { action: 'lease' } }), 'queue')
    const edit = { action: 'edit', command: id(0x41), text: 'Mine now' } as const
    expect(refusal(await tablet.ask({ kind: 'task.queue', task, edit }))).toBe('forbidden')
  })

  it('an edit without the lease', async () => {
    const task = await create('No lease')
    outcome(await phone.ask(command(task, { command: id(0x51) })), 'dispatched')
    const edit = { action: 'remove', command: id(0x51) } as const
    expect(refusal(await phone.ask({ kind: 'task.queue', task, edit }))).toBe('conflict')
  })

  it('an operation that this host does not know, to a device with a grant', async () => {
    expect(refusal(await phone.ask(list, { op: { kind: 'no.such' } }))).toBe('malformed')
    const title = 't'.repeat(201)
    const op = { kind: 'task.create', task: { title, prompt: 'P', workspace: 'site' } }
    expect(refusal(await phone.ask(list, { op }))).toBe('bounds')
  })

  it('a revoked device', async () => {
    const lost = await stage.device(15)
    await stage.operator.revoke(lost.key.publicKey)
    expect(refusal(await lost.ask(list))).toBe('revoked')
  })

  it('a revoked device that is invited again has a grant of its new epoch', async () => {
    const lost = await stage.device(16)
    const old = lost.grant
    await stage.operator.revoke(lost.key.publicKey)
    lost.grant = await redeem(lost, await stage.invite())
    expect(lost.grant.epoch).toBe(1)
    outcome(await lost.ask(list), 'workspaces')
    expect(refusal(await lost.ask(list, { grant: old?.grant ?? '', epoch: 0 }))).toBe('revoked')
  })

  it('an expired grant, which a restart does not forget', async () => {
    const guest = await stage.device(17)
    await stage.stop()
    const path = join(stage.home, 'host', 'access.json')
    const book = JSON.parse(await readFile(path, 'utf8'))
    for (const entry of book.grants) {
      if (entry.grant.device !== guest.key.publicKey) continue
      entry.grant.expires_at = nowSeconds(systemClock)
      entry.grant.issued_at -= 100
    }
    await writeFile(path, JSON.stringify(book))
    await stage.start()
    expect(refusal(await guest.ask(list))).toBe('expired')
  })
})

describe('what earns nothing at all', () => {
  const silent = async (peer: WirePeer, sent: { request: string; event: NostrEvent }) => {
    peer.send(sent.event)
    // Whatever is answered at all is answered in the order in which it arrived.
    outcome(await phone.ask(list), 'workspaces')
    expect(peer.heard(sent.request)).toBe(0)
  }

  it('another host', async () => {
    await silent(phone, phone.sign(list, { host: id(0x77) }))
    await stage.untilCounted('other_host')
  })

  it('another relay', async () => {
    await silent(phone, phone.sign(list, { relay: 'wss://other.example.net/' }))
    await stage.untilCounted('other_relay')
  })

  it('a window that is over, or not yet', async () => {
    const now = nowSeconds(systemClock)
    await silent(phone, phone.sign(list, { issued_at: now - 30, expires_at: now }))
    await silent(phone, phone.sign(list, { issued_at: now + 70 }))
    await stage.untilCounted('outside_window', 2)
  })

  it('a mailbox that is not the request', async () => {
    const sent = phone.sign(list, {}, id(0x66))
    await silent(phone, sent)
    await stage.untilCounted('other_mailbox')
  })

  it('a body that breaks its schema', async () => {
    await silent(phone, phone.sign(list, { more: { extra: 1 } }))
    await stage.untilCounted('bad_body')
  })

  it('bytes that are no envelope', async () => {
    const { event } = phone.sign(list)
    const { id: _id, sig: _sig, pubkey: _pubkey, ...template } = event
    const broken = phone.key.signer.sign({ ...template, content: 'AgAA'.repeat(60) })
    await silent(phone, { request: template.tags[1]?.[1] ?? '', event: broken })
    await stage.untilCounted('bad_envelope')
  })

  it('a wrong capability, whoever asks', async () => {
    await stage.invite()
    const op: Operation = { kind: 'enroll.redeem', invitation: id(0x55), capability: id(0x56) }
    await silent(phone, phone.sign(op, { grant: null, epoch: null }))
    await stage.untilCounted('unknown_capability')
  })

  it('a stranger without an invitation that is open', async () => {
    const quiet = await bridgeStage()
    try {
      const stranger = await wirePeer({
        key: testKey(30),
        host: quiet.host,
        relay: quiet.relay.url,
        clock: systemClock,
      })
      const sent = stranger.sign(list)
      stranger.send(sent.event)
      await quiet.untilCounted('stranger_closed')
      expect(stranger.heard(sent.request)).toBe(0)
      stranger.close()
    } finally {
      await quiet.end()
    }
  })
})
