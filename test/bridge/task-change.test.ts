import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import { id } from '../support/access.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome, refusal } from '../support/results.ts'

const phone = testKey(13)

const enrolled = async () => {
  const bridge = await quietBridge()
  await bridge.enroll(phone)
  return bridge
}
const create = (title = 'Tidy'): Operation => ({
  kind: 'task.create',
  task: { title, prompt: 'Sort the entries.', workspace: 'site' },
})
const created = async (bridge: QuietBridge) =>
  outcome(await bridge.ask(phone, create()), 'dispatched').receipt.reference
const steer = (task: string, revision = 1, prompt = 'Only the last.'): Operation => ({
  kind: 'task.steer',
  task,
  revision,
  prompt,
})
const cancel = (task: string, revision = 1): Operation => ({
  kind: 'task.cancel',
  task,
  revision,
  reason: 'Enough',
})
const archive = (task: string): Operation => ({ kind: 'task.archive', task })
const revisionOf = async (bridge: QuietBridge, task: string) => {
  const query = { workspace: 'site', task, revision: null, cursor: null, limit: 1 }
  return outcome(await bridge.ask(phone, { kind: 'task.read', query }), 'task').task.revision
}

describe('a change of a task that the store refuses', () => {
  it('is stale at another revision', async () => {
    const bridge = await enrolled()
    const task = await created(bridge)
    expect(refusal(await bridge.ask(phone, steer(task, 2)))).toBe('stale')
    expect(refusal(await bridge.ask(phone, cancel(task, 2)))).toBe('stale')
    expect(await revisionOf(bridge, task)).toBe(1)
    await bridge.stop()
  })

  it('is conflict for a task that cannot be changed so', async () => {
    const bridge = await enrolled()
    const task = await created(bridge)
    expect(refusal(await bridge.ask(phone, archive(task)))).toBe('conflict')
    outcome(await bridge.ask(phone, cancel(task)), 'dispatched')
    expect(refusal(await bridge.ask(phone, cancel(task, 2)))).toBe('conflict')
    await bridge.stop()
  })

  it('is conflict when the request ID of an earlier one comes back with something else', async () => {
    const bridge = await enrolled()
    const task = await created(bridge)
    const request = id(0x31)
    outcome(await bridge.ask(phone, steer(task), { request }), 'dispatched')
    await bridge.clock.advance(61_000)
    const other = bridge.sign(phone, steer(task, 2, 'Something else.'), { request })
    bridge.deliver(other.event)
    const [, reply] = await bridge.answers(other, 2)
    if (reply === undefined) throw new Error('no reply')
    expect(refusal(bridge.open(other, reply).result)).toBe('conflict')
    expect(await revisionOf(bridge, task)).toBe(2)
    await bridge.stop()
  })

  it('is forbidden for a task that is not there', async () => {
    const bridge = await enrolled()
    for (const op of [steer(id(9)), cancel(id(9)), archive(id(9))]) {
      expect(refusal(await bridge.ask(phone, op))).toBe('forbidden')
    }
    await bridge.stop()
  })

  it('is unavailable for a task that does not read', async () => {
    const bridge = await enrolled()
    const task = await created(bridge)
    const path = join(bridge.home, 'tasks', 'task', `${task}.json`)
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('Sort the entries.', 'Sort the entriez.'))
    for (const op of [steer(task), cancel(task), archive(task)]) {
      expect(refusal(await bridge.ask(phone, op))).toBe('unavailable')
    }
    await bridge.stop()
  })
})

describe('a request that is signed again after it expired, and after a restart of the host', () => {
  /** Asks, lets the request expire, restarts the host, and asks again under the same request ID. */
  const askTwice = async (bridge: QuietBridge, op: Operation, request: string) => {
    const first = outcome(await bridge.ask(phone, op, { request }), 'dispatched')
    await bridge.clock.advance(61_000)
    await bridge.stop()
    await bridge.start()
    const again = bridge.sign(phone, op, { request })
    bridge.deliver(again.event)
    const [, reply] = await bridge.answers(again, 2)
    if (reply === undefined) throw new Error('no reply')
    expect(outcome(bridge.open(again, reply).result, 'dispatched')).toEqual(first)
    return first.receipt.reference
  }

  it('creates no second task, and steers, cancels and archives it no second time', async () => {
    const bridge = await enrolled()
    const task = await askTwice(bridge, create(), id(0x41))
    expect((await bridge.service().status()).tasks).toEqual({ queued: 1 })
    await askTwice(bridge, steer(task), id(0x42))
    expect(await revisionOf(bridge, task)).toBe(2)
    await askTwice(bridge, cancel(task, 2), id(0x43))
    expect(await revisionOf(bridge, task)).toBe(3)
    await askTwice(bridge, archive(task), id(0x44))
    const entries = JSON.parse(await readFile(join(bridge.home, 'tasks', 'archive.json'), 'utf8')).tasks
    expect(Object.keys(entries)).toEqual([task])
    await bridge.stop()
  })

  it('is dispatched although the task has gone on since', async () => {
    const bridge = await enrolled()
    const task = await created(bridge)
    const request = id(0x51)
    outcome(await bridge.ask(phone, steer(task), { request }), 'dispatched')
    outcome(await bridge.ask(phone, cancel(task, 2)), 'dispatched')
    await bridge.clock.advance(61_000)
    const again = bridge.sign(phone, steer(task), { request })
    bridge.deliver(again.event)
    expect((await bridge.answers(again, 2)).length).toBe(2)
    expect(await revisionOf(bridge, task)).toBe(3)
    await bridge.stop()
  })
})
