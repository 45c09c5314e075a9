import { readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { switchOn } from '../../../src/host/autostart/change-policy.ts'
import { openAutostartJournal } from '../../../src/host/autostart/journal.ts'
import { standingGrantPath } from '../../../src/host/autostart/policy.ts'
import { openHostCore } from '../../../src/host/core.ts'
import { executeGrant } from '../../../src/host/owner/execute.ts'
import { createLauncher } from '../../../src/host/supervise/launch-owner.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { grantBytes } from '../../support/host-stage.ts'
import { ownerStage } from '../../support/owner-stage.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'

const entry = new URL('../../fixtures/owner.mjs', import.meta.url).pathname
const script = '#!/usr/bin/dash\ncat /run/drawbridge/turn/prompt.txt >> log; echo >> log; sleep $1\n'

/** A policy over a real worktree, and a core that launches real owners. */
async function realStage(seconds: string) {
  const stage = await ownerStage('First.')
  const program = join(await tempDir(), 'program')
  await writeFile(program, script, { mode: 0o755 })
  const workspaces = [{ label: 'demo', path: stage.workspace.path }]
  const policy = await switchOn(
    { disk: realDisk, clock: systemClock, home: stage.home, workspaces },
    {
      workspaces: ['demo'],
      max_running: 1,
      program,
      arguments: [seconds],
      write_workspace: true,
      wall_seconds: 60,
      stream_bytes: 65_536,
      memory_bytes: 268_435_456,
    },
  )
  // The task is older than the policy; as one that changed since, it is meant by it.
  const later = systemClock.nowMs() / 1000 + 1
  await utimes(`${stage.tasks.dir}/task/task-1.json`, later, later)
  const ended: string[] = []
  const core = openHostCore({
    disk: realDisk,
    clock: systemClock,
    home: stage.home,
    tasks: stage.tasks,
    launcher: createLauncher({ home: stage.home, allowRoot: true, entry }),
    workspaces: () => workspaces,
    ended: (taskId) => void ended.push(taskId),
    log: { info() {}, warn() {} },
  })
  onTestFinished(() => core.close())
  return { stage, core, ended, program, policy }
}

describe('auto-start with real owners', () => {
  it('runs a created task and its next turn, each with its own prompt', async () => {
    const { stage, core, ended } = await realStage('0')
    await core.plan('task-1')
    await until(() => ended.length === 1)
    expect(await stage.tasks.show('task-1')).toMatchObject({ status: 'finished', execution: 'finished' })
    await stage.act('task-1', { type: 'continue', prompt: 'Second.' })
    await core.plan('task-1')
    await until(() => ended.length === 2)
    expect(await stage.tasks.show('task-1')).toMatchObject({ status: 'finished', execution: 'finished' })
    expect(await readFile(join(stage.workspace.path, 'log'), 'utf8')).toBe('First.\nSecond.\n')
  })

  it('learns at once that an owner was killed, settles its run and runs nothing again', async () => {
    const { stage, core, ended } = await realStage('60')
    await core.plan('task-1')
    const log = () => readFile(join(stage.workspace.path, 'log'), 'utf8').catch(() => '')
    await until(async () => (await log()) === 'First.\n')
    const journal = openAutostartJournal(realDisk, systemClock, stage.home)
    const owner = (await journal.entries()).find(({ event }) => event === 'started')?.owner_process ?? 0
    process.kill(owner, 'SIGKILL')
    await until(() => ended.length === 1)
    expect(await stage.tasks.show('task-1')).toMatchObject({
      execution: 'failed',
      run: { result: { ending: 'owner_process_ended' } },
    })
    await core.sweep()
    expect(await log()).toBe('First.\n')
  })
})

describe("a policy's grant at admission", () => {
  it('refuses a program that changed since it was planned; a grant of a person is under no pin', async () => {
    const { stage, core, program, policy } = await realStage('0')
    await core.close()
    const bytes = grantBytes(await stage.tasks.show('task-1'), policy.engine)
    await realDisk.makeDirectory(`${stage.home}/host/autostart`)
    await realDisk.replace(standingGrantPath(stage.home, 'task-1', 1), bytes)
    await writeFile(program, '#!/usr/bin/dash\necho other > log\n')
    await expect(executeGrant(stage.deps(), bytes)).rejects.toMatchObject({ code: 'io' })
    expect(await stage.tasks.show('task-1')).toMatchObject({ status: 'queued' })
    await realDisk.remove(standingGrantPath(stage.home, 'task-1', 1))
    expect(await executeGrant(stage.deps(), bytes)).toMatchObject({ execution: 'finished' })
  })
})
