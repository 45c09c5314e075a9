import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openVerified } from '../../src/protocol/envelope.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome } from '../support/results.ts'
import { eventsTo, toldTo } from '../support/told-by-host.ts'
import { recordTurn } from '../support/turn-elsewhere.ts'
import { submitTask } from '../support/turns.ts'

const phone = testKey(13)
const tablet = testKey(14)
const owner = testKey(12)

const create = async (bridge: QuietBridge, title = 'Tidy'): Promise<string> => {
  const task = { title, prompt: 'Sort the secret entries.', workspace: 'site' }
  return outcome(await bridge.ask(phone, { kind: 'task.create', task }), 'dispatched').receipt.reference
}
const headlines = (bridge: QuietBridge, key = phone) =>
  toldTo(bridge, key, 'summary').map((body) => body.headline)
/** Lets a second of the host's time pass, and waits until so many were told. */
const untilTold = async (bridge: QuietBridge, count: number, key = phone) => {
  await expect
    .poll(async () => {
      await bridge.clock.advance(1_000)
      return headlines(bridge, key).length
    })
    .toBe(count)
}
/** The same, until the newest says this. */
const untilSaid = async (bridge: QuietBridge, headline: string) => {
  await expect
    .poll(async () => {
      await bridge.clock.advance(1_000)
      return headlines(bridge).at(-1)
    })
    .toBe(headline)
}

describe('a summary', () => {
  it('goes to each device with observe when a revision changes, and says what task.list says', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await bridge.enroll(tablet, ['observe'])
    const task = await create(bridge)
    await untilTold(bridge, 1)
    await untilTold(bridge, 1, tablet)
    const query = { workspace: 'site', cursor: null, limit: 1 }
    const [item] = outcome(await bridge.ask(phone, { kind: 'task.list', query }), 'tasks').tasks.items
    expect(toldTo(bridge, tablet, 'summary')[0]).toEqual({
      v: 'openagents.activity-summary.v1',
      requires: [],
      host: bridge.host,
      subject: { kind: 'task', id: task },
      sequence: item?.revision,
      phase: item?.phase,
      attention: item?.attention,
      headline: 'Task queued',
      updated_at: expect.any(Number),
    })
    await bridge.stop()
  })

  it.each([
    ['exit 0', { ending: 'exit 0' }, 'completed', 'completed', 'Task finished'],
    ['a failure', { ending: 'exit 3', exit_code: 3 }, 'failed', 'failed', 'Task failed'],
    ['a question', { ending: 'asked_question' }, 'waiting', 'input', 'Asked a question'],
    ['an approval', { ending: 'asked_approval' }, 'waiting', 'approval', 'Asked for approval'],
  ] as const)(
    'after %s has its phase, attention and headline',
    async (_name, how, phase, attention, headline) => {
      const bridge = await quietBridge()
      await bridge.enroll(phone)
      const task = await create(bridge)
      await untilSaid(bridge, 'Task queued')
      await recordTurn(bridge.home, task, how, () => untilSaid(bridge, 'Task running'))
      await untilSaid(bridge, headline)
      const told = toldTo(bridge, phone, 'summary')
      expect([...new Set(told.map((body) => body.headline))]).toEqual([
        'Task queued',
        'Task running',
        headline,
      ])
      expect(told.at(-1)).toMatchObject({ phase, attention })
      const sequences = told.map((body) => body.sequence)
      expect(sequences).toEqual([...new Set(sequences)].sort((one, other) => one - other))
      await bridge.stop()
    },
  )

  it('is sealed for seven days, dated when it is sealed, and no longer than 1,024 bytes', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await create(bridge, 't'.repeat(200))
    await untilTold(bridge, 1)
    const [event] = eventsTo(bridge, phone, 'summary')
    expect(event?.created_at).toBeGreaterThanOrEqual(nowSeconds(bridge.clock) - 5)
    const { retain_until, body } = openVerified(event ?? expect.fail('none'), phone.publicKey, phone.with)
    expect(retain_until - (event?.created_at ?? 0)).toBe(604_800)
    expect(JSON.stringify(body)).not.toContain('ttt')
    expect(new TextEncoder().encode(JSON.stringify(body)).length).toBeLessThanOrEqual(1_024)
    await bridge.stop()
  })

  it('is one a second for each task: of several changes the newest', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const task = await create(bridge)
    const other = await create(bridge, 'Other')
    await expect.poll(() => headlines(bridge).length).toBe(2)
    for (const [revision, prompt] of [
      [1, 'Another'],
      [2, 'A third'],
      [3, 'A fourth'],
    ] as const) {
      outcome(await bridge.ask(phone, { kind: 'task.steer', task, revision, prompt }), 'dispatched')
    }
    outcome(
      await bridge.ask(phone, { kind: 'task.cancel', task, revision: 4, reason: 'Enough' }),
      'dispatched',
    )
    const of = (id: string) => toldTo(bridge, phone, 'summary').filter(({ subject }) => subject.id === id)
    await bridge.clock.advance(999)
    expect(of(task).map((body) => body.sequence)).toEqual([1])
    await bridge.clock.advance(1)
    await expect.poll(() => of(task).map((body) => body.sequence)).toEqual([1, 5])
    await bridge.clock.advance(60_000)
    expect(of(task).map((body) => body.headline)).toEqual(['Task queued', 'Task cancelled'])
    expect(of(other).length).toBe(1)
    await bridge.stop()
  })
})

describe('nobody gets a summary', () => {
  it('without observe: an operator, the owner, a revoked device, one whose grant expired', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await bridge.enroll(tablet, ['operate'])
    const [gone, late] = [testKey(16), testKey(17)]
    await bridge.enroll(gone)
    await bridge.enroll(late, ['observe'], 400)
    await bridge.operator.revoke(gone.publicKey)
    await bridge.clock.advance(400_000)
    await create(bridge)
    await untilTold(bridge, 1)
    for (const key of [tablet, owner, gone, late]) expect(eventsTo(bridge, key, 'summary')).toEqual([])
    await bridge.stop()
  })

  it('that was to come when its grant was revoked', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await bridge.enroll(tablet, ['observe'])
    const task = await create(bridge)
    await expect.poll(() => headlines(bridge, tablet).length).toBe(1)
    const cancel: Operation = { kind: 'task.cancel', task, revision: 1, reason: 'Enough' }
    outcome(await bridge.ask(phone, cancel), 'dispatched')
    await bridge.operator.revoke(tablet.publicKey)
    await untilTold(bridge, 2)
    expect(eventsTo(bridge, tablet, 'summary').length).toBe(1)
    await bridge.stop()
  })

  it('of a task that was archived meanwhile, nor of a local one', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const task = await create(bridge)
    await expect.poll(() => headlines(bridge).length).toBe(1)
    const tasks = await openTaskStore(realDisk, systemClock, `${bridge.home}/tasks`)
    await submitTask(tasks, 'local-task')
    await tasks.close()
    outcome(
      await bridge.ask(phone, { kind: 'task.cancel', task, revision: 1, reason: 'Enough' }),
      'dispatched',
    )
    outcome(await bridge.ask(phone, { kind: 'task.archive', task }), 'dispatched')
    await create(bridge, 'Another')
    await untilTold(bridge, 2)
    await bridge.clock.advance(5_000)
    expect(headlines(bridge)).toEqual(['Task queued', 'Task queued'])
    await bridge.stop()
  })
})

describe('after a restart', () => {
  it('nothing is repeated, and what changed meanwhile is told', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const [task] = [await create(bridge), await create(bridge, 'Unchanged')]
    await untilTold(bridge, 2)
    await bridge.stop()
    await recordTurn(bridge.home, task)
    await bridge.start()
    await untilTold(bridge, 3)
    await bridge.clock.advance(60_000)
    expect(headlines(bridge)).toEqual(['Task queued', 'Task queued', 'Task finished'])
    await bridge.stop()
  })
})

describe('a task that does not read', () => {
  it('keeps no service from starting, nor the summaries of other tasks from coming', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const broken = await create(bridge)
    await untilTold(bridge, 1)
    await bridge.stop()
    await writeFile(join(bridge.home, 'tasks', 'task', `${broken}.json`), '{}')
    await rm(join(bridge.home, 'run', 'told.json'))
    await bridge.start()
    await create(bridge, 'Another')
    await untilTold(bridge, 2)
    await bridge.stop()
  })
})

describe('a relay that takes nothing', () => {
  it('gets the newest summary of a task once it listens again, and no old one beside it', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const task = await create(bridge)
    await expect.poll(() => eventsTo(bridge, phone, 'summary').length).toBe(1)
    for (const revision of [1, 2]) {
      const steer: Operation = { kind: 'task.steer', task, revision, prompt: `Prompt ${revision}` }
      outcome(await bridge.ask(phone, steer), 'dispatched')
      await bridge.clock.advance(1_000)
      await expect.poll(() => eventsTo(bridge, phone, 'summary').length).toBe(revision + 1)
    }
    const before = bridge.published().length
    await bridge.clock.advance(10_000)
    const again = bridge.published().slice(before)
    const ids = eventsTo(bridge, phone, 'summary').map(({ id }) => id)
    expect(again.filter(({ id }) => ids.includes(id)).map(({ id }) => id)).toEqual([ids[2]])
    await bridge.stop()
  })
})
