import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKeptReplies } from '../../src/bridge/kept-replies.ts'
import { homePaths } from '../../src/bridge/paths.ts'
import { rotateTasks } from '../../src/bridge/rotate.ts'
import type { CommandKind } from '../../src/commands/journal-entry.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import { refused } from '../support/refusals.ts'
import type { WirePeer } from '../support/wire-peer.ts'

let stage: BridgeStage
let phone: WirePeer
beforeEach(async () => {
  stage = await bridgeStage()
  phone = await stage.device(1_900)
})
afterEach(() => stage.end())

const rotate = () => rotateTasks({ disk: realDisk, clock: systemClock }, stage.home, process.pid)
const tasks = () => homePaths(stage.home).tasks
const id = (number: number) => number.toString(16).padStart(64, '0')
const createRequest = id(1)

async function createdTask(): Promise<string> {
  const task = { title: 'Once', prompt: 'Only once.', workspace: 'site' }
  phone.send(phone.sign({ kind: 'task.create', task }, { request: createRequest }).event)
  return await createdBy(await phone.replyTo(createRequest))
}

async function createdBy(reply: NostrEvent): Promise<string> {
  const { result } = phone.open(reply)
  if (result.status !== 'ok' || result.outcome.kind !== 'dispatched') throw new Error('not created')
  return result.outcome.receipt.reference
}

async function command(
  number: number,
  action: CommandKind,
  task: string,
  issued_at = nowSeconds(systemClock),
) {
  const asked = { command: id(number), task, action, based_on: 1, text: 'Enough.', emulate: false, issued_at }
  return (await phone.ask({ kind: 'task.command', command: asked })) as { status: string; code?: string }
}

describe('putting the task store of a home aside', () => {
  it('is refused beside a service, while a task has not ended, and while a message waits', async () => {
    const task = await createdTask()
    await refused('already_running', rotate())
    await stage.stop()
    await refused('invalid_transition', rotate())
    await stage.start()
    await command(2, 'queue', task)
    // Under a lease the message goes on waiting when its turn ends.
    await phone.ask({ kind: 'task.queue', task, edit: { action: 'lease' } })
    await command(3, 'interrupt', task)
    await stage.stop()
    await expect(rotate()).rejects.toMatchObject({
      code: 'conflict',
      message: `1 command is not decided, the first for task ${task}`,
      hint: `drawbridge commands list ${task}`,
    })
    expect((await readdir(stage.home)).filter((name) => name.startsWith('tasks'))).toEqual(['tasks'])
  })

  it('lets nothing run a second time that comes again, and says of it what was said before', async () => {
    const task = await createdTask()
    const issued_at = nowSeconds(systemClock)
    const [stopped, late] = [
      await command(2, 'interrupt', task, issued_at),
      await command(3, 'answer', task, issued_at),
    ]
    await stage.stop()
    expect(await rotate()).toEqual({ retired: `${tasks()}.1`, tasks: 1 })
    // What was answered is not remembered any more; the stores are.
    await rm(homePaths(stage.home).replies)
    await createKeptReplies(realDisk, homePaths(stage.home).replies)
    await stage.start()
    // The relay hands the request over again.
    expect(await createdBy(await phone.replyTo(createRequest, 1))).toBe(task)
    expect(await command(2, 'interrupt', task, issued_at)).toEqual(stopped)
    expect(await command(3, 'answer', task, issued_at)).toEqual(late)
    expect(await command(4, 'queue', task)).toMatchObject({ status: 'refused', code: 'forbidden' })
    expect((await stage.service().status()).tasks).toEqual({})
    const retired = await openTaskStore(realDisk, systemClock, `${tasks()}.1`, { readOnly: true })
    expect(await retired.show(task)).toMatchObject({ task_id: task, status: 'cancelled' })
  })

  it('is refused when its journal was lost', async () => {
    await command(3, 'interrupt', await createdTask())
    await stage.stop()
    const journal = join(tasks(), 'commands.json')
    await rm(journal)
    await refused('unavailable', rotate())
    expect((await readdir(stage.home)).filter((name) => /^tasks\.\d/.test(name))).toEqual([])
  })
})
