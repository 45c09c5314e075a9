import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openHome } from '../../src/bridge/home.ts'
import { switchOn } from '../../src/host/autostart/change-policy.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import { outcome } from '../support/results.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import type { WirePeer } from '../support/wire-peer.ts'

let stage: BridgeStage
let phone: WirePeer

beforeAll(async () => {
  stage = await bridgeStage()
  phone = await stage.device(13)
})
afterAll(() => stage.end())

const create = async (title: string): Promise<string> => {
  const task = { title, prompt: 'Sort the entries.', workspace: 'site' }
  return outcome(await phone.ask({ kind: 'task.create', task }), 'dispatched').receipt.reference
}
const listed = async (task: string) => {
  const query = { workspace: 'site', cursor: null, limit: 32 }
  const { items } = outcome(await phone.ask({ kind: 'task.list', query }), 'tasks').tasks
  return items.find((item) => item.task === task)?.note
}
const read = async (task: string) => {
  const query = { workspace: 'site', task, revision: null, cursor: null, limit: 8 }
  return outcome(await phone.ask({ kind: 'task.read', query }), 'task').task.note
}

it('a device learns why a task waits, from the list and from the task alike; the log names the task alone', async () => {
  const early = await create('Early')
  const off = 'waiting for the operator: auto-start is off'
  expect([await listed(early), await read(early)]).toEqual([off, off])

  const program = join(await tempDir(), 'program')
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
  const { settings } = await openHome(realDisk, stage.home)
  await switchOn(
    { disk: realDisk, clock: systemClock, home: stage.home, workspaces: settings.workspaces },
    {
      workspaces: ['site'],
      max_running: 1,
      program,
      arguments: [],
      write_workspace: false,
      wall_seconds: 60,
      stream_bytes: 65_536,
      memory_bytes: 268_435_456,
    },
  )
  expect(await listed(early)).toBe(
    'waiting for the operator: it waited before the auto-start policy was made',
  )

  await writeFile(program, '#!/bin/sh\necho upgraded\n')
  const late = await create('Late')
  const skipped = 'waiting for the operator: the program changed since the policy was made'
  await until(async () => (await listed(late)) === skipped)
  expect(await read(late)).toBe(skipped)
  const lines = stage.lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn')
  expect(lines).toMatchObject([
    {
      task: late,
      reason: 'the program changed since the policy was made',
      msg: 'the auto-start policy did not start a turn',
    },
  ])
})
