import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { realDisk } from '../../src/store/disk.ts'
import { type Gate, gate } from '../support/gate.ts'
import { type TestKey, testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome, refusal } from '../support/results.ts'
import { eventsTo } from '../support/told-by-host.ts'

const phone = testKey(13)
const tablet = testKey(14)
const create: Operation = {
  kind: 'task.create',
  task: { title: 'Tidy', prompt: 'Sort the entries.', workspace: 'site' },
}

describe('what waits for a relay when its device is revoked', () => {
  it('never goes out: neither a summary nor an answer', async () => {
    const bridge = await quietBridge({ relayLifetimeSeconds: 40 })
    await bridge.enroll(phone)
    await bridge.enroll(tablet, ['observe', 'operate'])
    await createdBy(bridge)
    for (const key of [phone, tablet]) {
      await expect.poll(() => eventsTo(bridge, key, 'summary').length).toBe(1)
    }
    const question = bridge.sign(tablet, { kind: 'workspace.list' })
    bridge.deliver(question.event)
    await bridge.answers(question)
    // The relay has said nothing of any of them: each goes out again on the next connection.
    await bridge.operator.revoke(tablet.publicKey)
    await bridge.renew()
    const copies = (key: TestKey) => {
      const ids = eventsTo(bridge, key, 'summary').map(({ id }) => id)
      return bridge.published().filter(({ id }) => ids.includes(id)).length
    }
    expect(copies(phone)).toBeGreaterThan(1)
    expect([copies(tablet), bridge.heard(question)]).toEqual([1, 1])
    await bridge.stop()
  })
})

describe('what is looked up while its device is revoked', () => {
  it('is not shown to it any more', async () => {
    const tasks = gatedTasks()
    const bridge = await quietBridge({ disk: tasks.disk })
    await bridge.enroll(phone)
    const task = await createdBy(bridge)
    tasks.close()
    const query = { workspace: 'site', task, revision: null, cursor: null, limit: 1 }
    const question = bridge.sign(phone, { kind: 'task.read', query })
    bridge.deliver(question.event)
    await tasks.reached()
    await bridge.operator.revoke(phone.publicKey)
    tasks.open()
    const [event] = await bridge.answers(question)
    if (event === undefined) throw new Error('no answer')
    expect(refusal(bridge.open(question, event).result)).toBe('revoked')
    await bridge.stop()
  })
})

async function createdBy(bridge: QuietBridge): Promise<string> {
  return outcome(await bridge.ask(phone, create), 'dispatched').receipt.reference
}

/** A disk on which what is asked of the task store can be made to wait. */
function gatedTasks(): Gate & { disk: Disk } {
  const tasks = gate()
  const waiting =
    <Arguments extends [string, ...unknown[]], T>(method: (...given: Arguments) => Promise<T>) =>
    async (...given: Arguments): Promise<T> => {
      if (given[0].includes('/tasks/')) await tasks.pass()
      return method(...given)
    }
  return {
    ...tasks,
    disk: { ...realDisk, read: waiting(realDisk.read), identity: waiting(realDisk.identity) },
  }
}
