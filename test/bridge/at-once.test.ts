import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/protocol/operations.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { openArchive } from '../../src/store/archive.ts'
import { realDisk } from '../../src/store/disk.ts'
import { id } from '../support/access.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome, refusal } from '../support/results.ts'
import { recordTurn } from '../support/turn-elsewhere.ts'

const phone = testKey(13)
const tablet = testKey(14)

const edit = (task: string, action: 'lease' | 'release' | 'list'): Operation => ({
  kind: 'task.queue',
  task,
  edit: { action },
})

/** A task of the phone with one message of its own that waits. Host time stands still: no sweep ever runs. */
async function waiting(options: { disk?: Disk } = {}): Promise<{ bridge: QuietBridge; task: string }> {
  const bridge = await quietBridge(options)
  await bridge.enroll(phone)
  await bridge.enroll(tablet)
  const create = { kind: 'task.create', task: { title: 'Wake', prompt: 'Sort.', workspace: 'site' } } as const
  const task = outcome(await bridge.ask(phone, create), 'dispatched').receipt.reference
  await queue(bridge, task, id(0x11))
  return { bridge, task }
}

async function queue(bridge: QuietBridge, task: string, command: string): Promise<void> {
  const issued_at = nowSeconds(bridge.clock)
  const sent = {
    command,
    task,
    action: 'queue',
    based_on: 1,
    text: 'And the index.',
    emulate: false,
    issued_at,
  }
  outcome(await bridge.ask(phone, { kind: 'task.command', command: sent } as Operation), 'dispatched')
}

const states = async (bridge: QuietBridge, task: string) =>
  (await bridge.operator.commands({ task, from: 0 })).entries.map(({ state }) => state)
const applied = { state: 'done', outcome: 'applied' }
const held = { state: 'held', priority: false }
const until = (bridge: QuietBridge, task: string, ...wanted: object[]) =>
  expect.poll(() => states(bridge, task), { timeout: 5_000 }).toMatchObject(wanted)

/** Ends the task's turn, and waits until the service has seen it so. */
async function endedUnderLease(bridge: QuietBridge, task: string, by = phone): Promise<void> {
  outcome(await bridge.ask(by, edit(task, 'lease')), 'queue')
  await recordTurn(bridge.home, task)
  await expect
    .poll(async () => (await bridge.service().status()).tasks, { timeout: 5_000 })
    .toMatchObject({ finished: 1 })
  expect(await states(bridge, task)).toMatchObject([held])
}

describe('with a sweep that never comes, a held message is decided at once', () => {
  it('when another process ends the turn', async () => {
    const { bridge, task } = await waiting()
    await recordTurn(bridge.home, task)
    await until(bridge, task, applied)
    await bridge.stop()
  })

  it('when the lease is released, before the answer', async () => {
    const { bridge, task } = await waiting()
    await endedUnderLease(bridge, task)
    const { queue: after } = outcome(await bridge.ask(phone, edit(task, 'release')), 'queue')
    expect(after).toMatchObject({ lease: null, items: [] })
    expect(await states(bridge, task)).toMatchObject([applied])
    await bridge.stop()
  })

  it('when its sender is revoked: it ends as revoked', async () => {
    const { bridge, task } = await waiting()
    await bridge.operator.revoke(phone.publicKey)
    await until(bridge, task, { state: 'done', outcome: 'rejected', reason: 'revoked' })
    await bridge.stop()
  })

  it('when the owner puts the task away: it ends as conflict', async () => {
    const { bridge, task } = await waiting()
    await endedUnderLease(bridge, task, tablet)
    outcome(await bridge.ask(phone, { kind: 'task.archive', task }), 'dispatched')
    await until(bridge, task, { state: 'done', outcome: 'rejected', reason: 'conflict' })
    await bridge.stop()
  })

  it('when a command on the host says that the task changed', async () => {
    const { bridge, task } = await waiting()
    await endedUnderLease(bridge, task, tablet)
    await openArchive(realDisk, `${bridge.home}/tasks`).archive(task, 'Enough', { kind: 'owner' }, 1)
    await bridge.operator.taskChanged(task)
    await until(bridge, task, { state: 'done', outcome: 'rejected', reason: 'conflict' })
    await bridge.stop()
  })

  it('at the start of the service, when the turn ended while none ran', async () => {
    const { bridge, task } = await waiting()
    await bridge.stop()
    await recordTurn(bridge.home, task)
    await bridge.start()
    expect(await states(bridge, task)).toMatchObject([applied])
    await bridge.stop()
  })

  it('when the watch says that it lost count', async () => {
    let tell: (name: string | null) => void = () => {}
    const deaf: Disk = {
      ...realDisk,
      watch: (_directory, changed) => {
        tell = changed
        return () => {}
      },
    }
    const { bridge, task } = await waiting({ disk: deaf })
    await recordTurn(bridge.home, task)
    tell(null)
    await until(bridge, task, applied)
    await bridge.stop()
  })
})

describe('the sweep is the net', () => {
  it('for a watch that tells nothing: five seconds later', async () => {
    const { bridge, task } = await waiting({ disk: { ...realDisk, watch: () => () => {} } })
    await recordTurn(bridge.home, task)
    expect(await states(bridge, task)).toMatchObject([held])
    await bridge.clock.advance(5_000)
    await until(bridge, task, applied)
    await bridge.stop()
  })

  it('for a journal that could not be written as the turn ended', async () => {
    let full = false
    const disk: Disk = {
      ...realDisk,
      async replace(path, content, options) {
        if (full && path.endsWith('/commands.json')) throw new Refusal('io', 'no space')
        await realDisk.replace(path, content, options)
      },
    }
    const { bridge, task } = await waiting({ disk })
    full = true
    await recordTurn(bridge.home, task)
    expect(refusal(await bridge.ask(phone, edit(task, 'lease')))).toBe('unavailable')
    full = false
    await bridge.clock.advance(5_000)
    await until(bridge, task, applied)
    await bridge.stop()
  })
})
