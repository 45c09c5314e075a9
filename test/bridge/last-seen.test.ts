import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome, refusal } from '../support/results.ts'

const phone = testKey(13)
const workspaces: Operation = { kind: 'workspace.list' }

const enrolled = async () => {
  const bridge = await quietBridge()
  await bridge.enroll(phone, ['operate', 'access_read'])
  await bridge.clock.advance(600_000)
  return bridge
}
const onDisk = async (bridge: QuietBridge): Promise<number | null> => {
  const book = JSON.parse(await readFile(join(bridge.home, 'host', 'access.json'), 'utf8'))
  return book.grants[0].last_seen
}
const told = async (bridge: QuietBridge): Promise<number | null | undefined> =>
  outcome(await bridge.ask(phone, { kind: 'device.list' }), 'devices').devices[0]?.last_seen

describe('when a device was last seen', () => {
  it('is known at once, and on disk a minute later at the latest, with no other write', async () => {
    const bridge = await enrolled()
    const heard = nowSeconds(bridge.clock)
    const before = await onDisk(bridge)
    outcome(await bridge.ask(phone, workspaces), 'workspaces')
    expect(await told(bridge)).toBe(heard)
    await bridge.clock.advance(59_000)
    expect(await onDisk(bridge)).toBe(before)
    // Heard once more: the minute is that of the first time.
    outcome(await bridge.ask(phone, workspaces), 'workspaces')
    await bridge.clock.advance(1_000)
    await expect.poll(() => onDisk(bridge)).toBe(heard + 59)
    await bridge.stop()
  })

  it('goes to disk with the next write of the book', async () => {
    const bridge = await enrolled()
    const heard = nowSeconds(bridge.clock)
    outcome(await bridge.ask(phone, workspaces), 'workspaces')
    await bridge.operator.invite({ rights: ['observe'], grant_expires_at: heard + 3_600, relay: null })
    expect(await onDisk(bridge)).toBe(heard)
    await bridge.stop()
  })

  it('is now also for a request that lacks a right or gets its kept answer, and not for one without its epoch', async () => {
    const bridge = await enrolled()
    const question = bridge.sign(phone, workspaces)
    let last = 0
    const steps = [
      async () =>
        expect(refusal(await bridge.ask(phone, { kind: 'chats.invite' }))).toBe('missing_right observe'),
      async () => {
        bridge.deliver(question.event)
        await bridge.answers(question)
      },
      async () => {
        bridge.deliver(question.event)
        await bridge.answers(question, 2)
      },
    ]
    for (const step of steps) {
      await bridge.clock.advance(10_000)
      await step()
      last = nowSeconds(bridge.clock)
      expect((await bridge.operator.devices())[0]?.last_seen).toBe(last)
    }
    await bridge.clock.advance(10_000)
    expect(refusal(await bridge.ask(phone, workspaces, { epoch: 3 }))).toBe('stale')
    expect((await bridge.operator.devices())[0]?.last_seen).toBe(last)
    await bridge.stop()
  })
})
