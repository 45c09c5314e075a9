import { afterEach, describe, expect, it } from 'vitest'
import { eventJson, type NostrEvent } from '../../src/protocol/event.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'

const phone = testKey(13)
let bridge: QuietBridge
afterEach(() => bridge.stop())

/** A service whose relay says this of itself once it has enrolled the phone, and not before. */
async function serving(limitation: object): Promise<void> {
  let said = '{}'
  bridge = await quietBridge({ information: async () => ({ ok: true, text: said, dateMs: null }) })
  await bridge.enroll(phone, ['observe', 'operate', 'access_read'])
  for (let index = 0; index < 8; index += 1) await bridge.ask(phone, create(index))
  said = JSON.stringify({ limitation })
  await bridge.stop()
  await bridge.start()
}

const create = (index: number): Operation => ({
  kind: 'task.create',
  task: { title: `Task ${index} ${'x'.repeat(150)}`, prompt: 'Sort the entries.', workspace: 'site' },
})
const list = (cursor: string | null): Operation => ({
  kind: 'task.list',
  query: { workspace: 'site', cursor, limit: 32 },
})
const queued = (task: string, text: string): Operation => ({
  kind: 'task.command',
  command: {
    command: randomId(systemRandom),
    task,
    action: 'queue',
    based_on: 1,
    text,
    emulate: false,
    issued_at: nowSeconds(bridge.clock),
  },
})
const frameBytes = (event: NostrEvent): number => `["EVENT",${eventJson(event)}]`.length

/** Asks, and gives the result with the bytes of the frame that it came in. */
async function ask(op: Operation) {
  const question = bridge.sign(phone, op)
  bridge.deliver(question.event)
  const [event] = await bridge.answers(question)
  if (event === undefined) throw new Error('no answer')
  return { result: bridge.open(question, event).result, bytes: frameBytes(event) }
}

/** Every task of every page, and the longest frame that brought one. */
async function walk(): Promise<{ tasks: string[]; pages: number; longest: number }> {
  const walked = { tasks: [] as string[], pages: 0, longest: 0 }
  let cursor: string | null = null
  do {
    const { result, bytes } = await ask(list(cursor))
    if (result.status !== 'ok' || result.outcome.kind !== 'tasks') throw new Error(JSON.stringify(result))
    walked.tasks.push(...result.outcome.tasks.items.map(({ task }) => task))
    walked.longest = Math.max(walked.longest, bytes)
    walked.pages += 1
    cursor = result.outcome.tasks.next
  } while (cursor !== null)
  return walked
}

describe('over a relay that takes less than 48 KiB', () => {
  it.each([
    [{ max_message_length: 65_536 }, 1],
    [{ max_message_length: 8_192 }, 2],
    [{ max_message_length: 5_000 }, 3],
    [{ max_content_length: 8_000 }, 2],
  ])('with %j the list of eight tasks comes whole, in %i pages', async (limitation, pages) => {
    await serving(limitation)
    const walked = await walk()
    expect(new Set(walked.tasks).size).toBe(8)
    expect(walked.tasks).toHaveLength(8)
    expect(walked.pages).toBe(pages)
    if ('max_message_length' in limitation)
      expect(walked.longest).toBeLessThanOrEqual(limitation.max_message_length)
  })

  it('an answer that cannot be parted is refused with bounds, which fits', async () => {
    await serving({ max_message_length: 2_300 })
    for (const op of [list(null), { kind: 'device.list' } as const]) {
      const { result, bytes } = await ask(op)
      expect(result).toEqual({ status: 'refused', code: 'bounds', missing: null })
      expect(bytes).toBeLessThanOrEqual(2_300)
    }
    expect((await ask({ kind: 'workspace.list' })).result).toMatchObject({ status: 'ok' })
    expect((await bridge.service().status()).counters.oversized_answer).toBeGreaterThan(0)
  })

  it('a queue is shown without the texts that do not fit, from its end', async () => {
    await serving({ max_message_length: 10_000 })
    const question = bridge.sign(phone, create(99))
    bridge.deliver(question.event)
    await bridge.answers(question)
    const task = deviceTaskId(phone.publicKey, question.request)
    for (const letter of ['a', 'b', 'c']) await ask(queued(task, letter.repeat(1_500)))
    const { result, bytes } = await ask({ kind: 'task.queue', task, edit: { action: 'list' } })
    if (result.status !== 'ok' || result.outcome.kind !== 'queue') throw new Error(JSON.stringify(result))
    const texts = result.outcome.queue.items.map(({ text }) => text?.slice(0, 1) ?? null)
    expect(texts).toEqual(['a', 'b', null])
    expect(bytes).toBeLessThanOrEqual(10_000)
  })

  it('says so in its status', async () => {
    await serving({ max_message_length: 16_384, max_subscriptions: 20 })
    expect((await bridge.service().status()).relays).toMatchObject([
      {
        auth: 'accepted',
        event_bytes_max: 16_374,
        limits: { max_message_length: 16_384, max_subscriptions: 20, max_limit: null },
        note: 'events up to 16374 bytes: longer answers come in smaller pages',
      },
    ])
  })
})

describe('over a relay whose document lies', () => {
  it.each([
    { max_message_length: 5 },
    { max_message_length: -1, max_content_length: 'none' },
    { max_message_length: 1e300, max_subscriptions: 0, max_filters: 0, max_subid_length: 0 },
  ])('of %j nothing changes but a note', async (limitation) => {
    await serving(limitation)
    expect(await walk()).toMatchObject({ pages: 1 })
    expect((await bridge.service().status()).relays).toMatchObject([
      { state: 'live', event_bytes_max: 49_152 },
    ])
  })
})
