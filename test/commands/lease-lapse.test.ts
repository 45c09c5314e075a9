import { describe, expect, it } from 'vitest'
import { isLive } from '../../src/commands/leases.ts'
import { commandSweepMs } from '../../src/limits.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import type { Clock } from '../../src/seams/clock.ts'
import { type Desk, openDesk, phone, tablet } from '../support/command-desk.ts'
import { refused } from '../support/refusals.ts'
import { beginTurn, endTurn } from '../support/turns.ts'

const task = 'task-1'
const lease = { action: 'lease' } as const
const release = { action: 'release' } as const

/** The desk's clock on which the sweep never comes; host time can be set back while its timers run on. */
function withoutSweep(clock: Clock): Clock & { setBack(ms: number): void } {
  let behindMs = 0
  return {
    nowMs: () => clock.nowMs() - behindMs,
    after: (ms, run) => (ms === commandSweepMs ? { cancel() {} } : clock.after(ms, run)),
    setBack(ms) {
      behindMs += ms
    },
  }
}

/** A task whose turn has ended while the phone edits its queue: one message waits, and no sweep ever comes. */
async function leased(): Promise<{ desk: Desk; clock: ReturnType<typeof withoutSweep> }> {
  const desk = await openDesk(task)
  const clock = withoutSweep(desk.clock)
  await desk.commands.close()
  await desk.restart({ clock })
  await beginTurn(desk.tasks, task)
  await desk.commands.record(tablet, desk.mint(task, 'queue'))
  await desk.commands.edit(phone, task, lease)
  await endTurn(desk.tasks, task)
  await desk.commands.evaluate(task)
  expect(await statusOf(desk)).toBe('finished')
  return { desk, clock }
}

const statusOf = async (desk: Desk) => (await desk.tasks.show(task)).status
const started = (desk: Desk) => expect.poll(() => statusOf(desk), { timeout: 5_000 }).toBe('queued')

describe('a lease that lapses, with a sweep that never comes', () => {
  it('starts the first message that waits, to the second', async () => {
    const { desk } = await leased()
    await desk.clock.advance(59_999)
    expect(await statusOf(desk)).toBe('finished')
    await desk.clock.advance(1)
    await started(desk)
  })

  it('does so too when host time was set back meanwhile: it is waited for again', async () => {
    const { desk, clock } = await leased()
    clock.setBack(20_000)
    await desk.clock.advance(60_000)
    // The timer has run; looking again is under way, and waits for what is left.
    await desk.commands.evaluate(task)
    await desk.clock.advance(19_999)
    expect(await statusOf(desk)).toBe('finished')
    await desk.clock.advance(1)
    await started(desk)
  })

  it('is not waited for longer than a lease can last when host time was set back by minutes', async () => {
    const { desk, clock } = await leased()
    clock.setBack(240_000)
    await desk.commands.evaluate(task)
    await started(desk)
  })

  it('does so after a restart', async () => {
    const { desk, clock } = await leased()
    await desk.restart({ clock })
    await desk.commands.evaluateAll()
    await desk.clock.advance(60_000)
    await started(desk)
  })

  it('does so when its release could not be written and the journal was read again', async () => {
    const { desk } = await leased()
    desk.disk.beforeWrite = () => {
      throw new Refusal('io', 'no space')
    }
    await refused('unavailable', desk.commands.edit(phone, task, release))
    desk.disk.beforeWrite = () => {}
    // Whatever is heard of the task next reads the journal again, in which the lease still lives.
    await desk.commands.evaluate(task)
    expect(await statusOf(desk)).toBe('finished')
    await desk.clock.advance(60_000)
    await started(desk)
  })
})

describe('the sweep', () => {
  it('finds what a failed write of the journal left waiting', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    await endTurn(desk.tasks, task)
    desk.disk.beforeWrite = () => {
      throw new Refusal('io', 'no space')
    }
    await desk.commands.evaluate(task)
    expect(await statusOf(desk)).toBe('finished')
    desk.disk.beforeWrite = () => {}
    await desk.clock.advance(commandSweepMs)
    await started(desk)
  })

  it('finds a release that could not be written, and its lapse', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    await desk.commands.edit(phone, task, lease)
    await endTurn(desk.tasks, task)
    desk.disk.beforeWrite = () => {
      throw new Refusal('io', 'no space')
    }
    await refused('unavailable', desk.commands.edit(phone, task, release))
    desk.disk.beforeWrite = () => {}
    await desk.clock.advance(60_000)
    await started(desk)
  })
})

describe('what is held ahead by a sender who no longer stands', () => {
  it('gives way, also a message with priority', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue', 'Second.'))
    const ahead = desk.mint(task, 'steer', 'First.', { based_on: 0 })
    expect(await desk.commands.record(tablet, ahead)).toEqual({ state: 'held', priority: true })
    desk.revoked.add(tablet.device)
    await endTurn(desk.tasks, task)
    await desk.commands.evaluate(task)
    const states = desk.commands.entries().map(({ state }) => state)
    expect(states).toMatchObject([
      { state: 'done', outcome: 'applied' },
      { state: 'done', outcome: 'rejected', reason: 'revoked' },
    ])
    expect(await statusOf(desk)).toBe('queued')
  })
})

describe('a lease', () => {
  it('that ends later than any could no longer counts', () => {
    const at = 1_795_000_000
    const until = (seconds: number) => ({ task, device: phone.device, expires_at: at + seconds })
    expect([isLive(until(120), at), isLive(until(121), at)]).toEqual([true, false])
  })
})
