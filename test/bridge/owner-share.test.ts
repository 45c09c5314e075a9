import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createLog } from '../../src/bridge/log.ts'
import type { Operation, OperationOf } from '../../src/protocol/operations.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { outcome, refusal } from '../support/results.ts'

const phone = testKey(13)
const tablet = testKey(14)
const owner = testKey(12)
const noGrant = { grant: null, epoch: null }
const secret = 'Nobody but us reads this.'

let minted = 0
const create = (): Operation => ({
  kind: 'task.create',
  task: { title: 'Tidy', prompt: secret, workspace: 'site' },
})
const queue = (bridge: QuietBridge, task: string): OperationOf<'task.command'> => {
  minted += 1
  return {
    kind: 'task.command',
    command: {
      command: minted.toString(16).padStart(64, '0'),
      task,
      action: 'queue',
      based_on: 1,
      text: secret,
      emulate: false,
      issued_at: nowSeconds(bridge.clock),
    },
  }
}
const byOwner = (bridge: QuietBridge, op: Operation) => bridge.ask(owner, op, noGrant)
const created = async (bridge: QuietBridge) =>
  outcome(await bridge.ask(phone, create()), 'dispatched').receipt.reference

/** Adds accepted commands to the store's log, as if devices had sent so many before. */
async function accepted(bridge: QuietBridge, count: number, submit: boolean): Promise<void> {
  const lines = Array.from(
    { length: count },
    (_, place) =>
      `{"command_id":"${submit}-${place}","task_id":"t-${submit ? place : 0}","submit":${submit}}\n`,
  )
  await appendFile(join(bridge.home, 'tasks', 'identities.log'), lines.join(''))
}

describe('a device', () => {
  it('has at most 256 commands undecided: the next is rate_limited, of others and of the owner not', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await bridge.enroll(tablet)
    const tasks: string[] = []
    for (let index = 0; index < 5; index += 1) tasks.push(await created(bridge))
    const before = (await bridge.service().status()).counters.answered ?? 0
    const asked = Array.from({ length: 256 }, (_, index) =>
      bridge.sign(phone, queue(bridge, tasks[index % 5] ?? '')),
    )
    for (const { event } of asked) bridge.deliver(event)
    await bridge.untilCounted('answered', before + 256)
    expect((await bridge.service().status()).held_commands).toBe(256)
    const [task = ''] = tasks
    expect(refusal(await bridge.ask(phone, queue(bridge, task)))).toBe('rate_limited')
    outcome(await bridge.ask(tablet, queue(bridge, task)), 'dispatched')
    outcome(await byOwner(bridge, queue(bridge, task)), 'dispatched')
    await bridge.stop()
  })
})

describe('the tenth that is kept for the owner', () => {
  it('of the tasks', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    await accepted(bridge, 920, true)
    const task = await created(bridge)
    expect(refusal(await bridge.ask(phone, create()))).toBe('bounds')
    outcome(await byOwner(bridge, create()), 'dispatched')
    const steer: Operation = { kind: 'task.steer', task, revision: 1, prompt: 'Another.' }
    outcome(await bridge.ask(phone, steer), 'dispatched')
    await bridge.stop()
  })

  it('of the command IDs, whatever a device wants of the store', async () => {
    const bridge = await quietBridge()
    await bridge.enroll(phone)
    const task = await created(bridge)
    await accepted(bridge, 1_842, false)
    const steer: Operation = { kind: 'task.steer', task, revision: 1, prompt: 'Another.' }
    const cancel: Operation = { kind: 'task.cancel', task, revision: 1, reason: 'Enough' }
    const { command } = queue(bridge, task)
    const interrupt: Operation = { kind: 'task.command', command: { ...command, action: 'interrupt' } }
    for (const op of [create(), steer, cancel, interrupt]) {
      expect(refusal(await bridge.ask(phone, op))).toBe('bounds')
    }
    outcome(await byOwner(bridge, steer), 'dispatched')
    outcome(await byOwner(bridge, create()), 'dispatched')
    await bridge.stop()
  })

  it('of the journal', async () => {
    const bridge = await quietBridge()
    const grant = await bridge.enroll(phone)
    const task = await created(bridge)
    await bridge.stop()
    const path = join(bridge.home, 'tasks', 'commands.json')
    const journal = JSON.parse(await readFile(path, 'utf8'))
    const { action, ...request } = queue(bridge, task).command
    journal.entries = Array.from({ length: 3_686 }, (_, index) => ({
      sender: { device: tablet.publicKey, grant: grant.grant, epoch: 0 },
      request: { ...request, kind: action, command: `${index}`.padStart(64, 'e') },
      received_at: nowSeconds(bridge.clock),
      state: { state: 'done', outcome: 'rejected', reason: 'conflict' },
    }))
    await writeFile(path, JSON.stringify(journal))
    await bridge.start()
    expect(refusal(await bridge.ask(phone, queue(bridge, task)))).toBe('bounds')
    outcome(await byOwner(bridge, queue(bridge, task)), 'dispatched')
    await bridge.stop()
  })
})

describe('a refusal of what is too much', () => {
  it('is logged without a word of what was asked', async () => {
    const lines: string[] = []
    const log = createLog(systemClock, 'debug', { write: (line) => void lines.push(line) })
    const bridge = await quietBridge({ log })
    await bridge.enroll(phone)
    await accepted(bridge, 921, true)
    expect(refusal(await bridge.ask(phone, create()))).toBe('bounds')
    await bridge.stop()
    expect(lines.join('')).toContain('"code":"bounds"')
    expect(lines.join('')).not.toContain(secret)
  })
})
