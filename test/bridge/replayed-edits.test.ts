import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { QueueEdit } from '../../src/protocol/operations/commands.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { id } from '../support/access.ts'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import { outcome } from '../support/results.ts'
import { tempDir } from '../support/temp-dir.ts'

let stage: BridgeStage

beforeEach(async () => {
  stage = await bridgeStage()
})
afterEach(() => stage.end())

it('a queue that was edited is left as it is by what a relay hands over again after a crash', async () => {
  const phone = await stage.device(13)
  const made = { title: 'Edits', prompt: 'Sort the entries.', workspace: 'site' }
  const created = await phone.ask({ kind: 'task.create', task: made })
  const task = outcome(created, 'dispatched').receipt.reference
  const edit = async (change: QueueEdit) =>
    outcome(await phone.ask({ kind: 'task.queue', task, edit: change }), 'queue').queue
  const queued = { command: id(0x21), task, action: 'queue' as const, based_on: 1, text: 'At first.' }
  const command = { ...queued, emulate: false, issued_at: nowSeconds(systemClock) }
  outcome(await phone.ask({ kind: 'task.command', command }), 'dispatched')
  await edit({ action: 'lease' })
  await edit({ action: 'edit', command: id(0x21), text: 'Then this.' })
  await edit({ action: 'edit', command: id(0x21), text: 'This in the end.' })
  await edit({ action: 'release' })

  // What is on the disk at this moment is what a crash leaves.
  const left = join(await tempDir(), 'home')
  await cp(join(stage.home, 'host'), join(left, 'host'), { recursive: true })
  await cp(join(stage.home, 'tasks'), join(left, 'tasks'), { recursive: true })
  await stage.stop()
  for (const part of ['host', 'tasks']) {
    await rm(join(stage.home, part), { recursive: true })
    await cp(join(left, part), join(stage.home, part), { recursive: true })
  }
  await stage.start()
  await stage.untilCounted('history', 5)

  const { lease, items } = await edit({ action: 'list' })
  expect([lease, items.map(({ text }) => text)]).toEqual([null, ['This in the end.']])
})
