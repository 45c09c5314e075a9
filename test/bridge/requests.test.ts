import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { grantSecondsMax } from '../../src/limits.ts'
import { parseInvitation } from '../../src/protocol/invitation.ts'
import { presenceMailbox } from '../../src/protocol/mailbox.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { realDisk } from '../../src/store/disk.ts'
import { type Gate, gate } from '../support/gate.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome, refusal } from '../support/results.ts'

const phone = testKey(13)
const tablet = testKey(14)
const list: Operation = { kind: 'workspace.list' }
const create = (title: string): Operation => ({
  kind: 'task.create',
  task: { title, prompt: 'Sort the entries.', workspace: 'site' },
})
const countTasks = async (bridge: QuietBridge) => (await bridge.service().status()).tasks?.['queued'] ?? 0

describe('a request that is asked again', () => {
  it('gets the same signed bytes, at most every five seconds', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const question = bridge.sign(phone, create('Once'))
    bridge.deliver(question.event)
    await bridge.answers(question)
    bridge.deliver(question.event)
    const copies = await bridge.answers(question, 2)
    bridge.deliver(question.event)
    await bridge.untilCounted('asked_again')
    await bridge.clock.advance(5_000)
    bridge.deliver(question.event)
    copies.push(...(await bridge.answers(question, 3)).slice(2))
    expect(new Set(copies.map((event) => JSON.stringify(event))).size).toBe(1)
    expect([copies.length, await countTasks(bridge)]).toEqual([3, 1])
    await bridge.stop()
  })

  it('as stored history after a restart does nothing and says nothing', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const created = bridge.sign(phone, create('Once'))
    const listed = bridge.sign(phone, list)
    for (const question of [created, listed]) {
      bridge.deliver(question.event)
      await bridge.answers(question)
    }
    await bridge.stop()
    await bridge.start([created.event, listed.event])
    await bridge.untilCounted('history', 2)
    expect([bridge.heard(created), bridge.heard(listed), await countTasks(bridge)]).toEqual([1, 1, 1])
    bridge.deliver(created.event)
    expect((await bridge.answers(created, 2)).length).toBe(2)
    await bridge.stop()
  })

  it('gets its answer when it was sent while the host was away', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const question = bridge.sign(phone, create('Sent to nobody'))
    await bridge.stop()
    await bridge.start([question.event])
    await bridge.answers(question)
    expect(await countTasks(bridge)).toBe(1)
    await bridge.stop()
  })

  it('is acted on under the same key when a crash cut it off before its act', async () => {
    const bridge = await quietBridge()
    const grant = await bridge.enroll(phone)
    const question = bridge.sign(phone, create('Cut off'))
    await bridge.stop()
    const pending = {
      request: question.request,
      request_event: question.event.id,
      signer: phone.publicKey,
      epoch: grant.epoch,
      expires_at: nowSeconds(bridge.clock) + 60,
      reply: null,
    }
    await appendFile(join(bridge.home, 'host', 'replies.jsonl'), `${JSON.stringify(pending)}\n`)
    await bridge.start([question.event])
    const [reply] = await bridge.answers(question)
    if (reply === undefined) throw new Error('no reply')
    const { receipt } = outcome(bridge.open(question, reply).result, 'dispatched')
    expect(receipt.reference).toBe(deviceTaskId(phone.publicKey, question.request))
    await bridge.stop()
  })
})

describe('time', () => {
  it('a grant admits until its last second, and then it is expired', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone, ['observe', 'operate'], 400)
    await bridge.clock.advance(340_000)
    outcome(await bridge.ask(phone, list), 'workspaces')
    await bridge.clock.advance(1_000)
    expect(refusal(await bridge.ask(phone, list))).toBe('forbidden')
    await bridge.clock.advance(59_000)
    expect(refusal(await bridge.ask(phone, list))).toBe('expired')
    await bridge.stop()
  })

  it('a redemption at 299 s is granted, at 301 s expired', async () => {
    const bridge = await quietBridge()
    const made = async () =>
      await bridge.operator.invite({
        rights: ['observe'],
        grant_expires_at: nowSeconds(bridge.clock) + grantSecondsMax,
        relay: null,
      })
    const redeem = async (key: typeof phone, code: string) => {
      const { invitation, capability } = parseInvitation(code, 'production')
      return await bridge.ask(
        key,
        { kind: 'enroll.redeem', invitation, capability },
        { grant: null, epoch: null },
      )
    }
    const [one, other] = [await made(), await made()]
    await bridge.clock.advance(299_000)
    outcome(await redeem(phone, one.code), 'granted')
    await bridge.clock.advance(2_000)
    expect(refusal(await redeem(tablet, other.code))).toBe('expired')
    await bridge.stop()
  })

  it('a request that expired while it was acted on gets no reply', async () => {
    const files = gatedDisk()
    const bridge = await quietBridge({ disk: files.disk })
    await bridge.enroll(phone)
    files.close()
    const question = bridge.sign(phone, create('Too slow'))
    bridge.deliver(question.event)
    await files.reached()
    await bridge.clock.advance(60_000)
    files.open()
    await bridge.untilCounted('expired_meanwhile')
    expect(bridge.heard(question)).toBe(0)
    await bridge.stop()
  })

  it('presence comes at the start, to a new device, and every minute', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const mailbox = presenceMailbox(phone.with(bridge.host))
    const presences = () => {
      const events = bridge.published().filter((event) => event.tags.some((tag) => tag[1] === mailbox))
      for (const event of events) bridge.connection().say('OK', event.id, true, '')
      return new Set(events.map((event) => event.id)).size
    }
    await expect.poll(presences).toBe(1)
    await bridge.clock.advance(60_000)
    expect(presences()).toBe(2)
    await bridge.stop()
    await bridge.start()
    expect(presences()).toBe(3)
    await bridge.stop()
  })
})

describe('a slow operation', () => {
  it('delays no other, and its event is not acted on twice', async () => {
    const files = gatedDisk()
    const bridge = await quietBridge({ disk: files.disk })
    await bridge.enroll(phone)
    files.close()
    const slow = bridge.sign(phone, create('Slow'))
    bridge.deliver(slow.event)
    await files.reached()
    outcome(await bridge.ask(phone, list), 'workspaces')
    bridge.deliver(slow.event)
    await bridge.untilCounted('in_flight')
    expect((await bridge.service().status()).requests_in_flight).toBe(1)
    expect(refusal(await bridge.ask(phone, list, { request: slow.request }))).toBe('conflict')
    files.open()
    // The refusal of the reused ID was the first answer in that mailbox.
    await bridge.answers(slow, 2)
    expect(await countTasks(bridge)).toBe(1)
    await bridge.stop()
  })
})

/** A disk whose task files can be made to wait. */
function gatedDisk(): Gate & { disk: Disk } {
  const taskFiles = gate()
  const replace: Disk['replace'] = async (path, bytes, temporary) => {
    if (path.includes('/task/')) await taskFiles.pass()
    await realDisk.replace(path, bytes, temporary)
  }
  return { ...taskFiles, disk: { ...realDisk, replace } }
}
