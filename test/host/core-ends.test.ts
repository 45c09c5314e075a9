import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { autostartSweepMs } from '../../src/limits.ts'
import { parseExecutionGrant } from '../../src/store/tasks/grant.ts'
import { coreStage, covered, exit } from '../support/core-stage.ts'
import { abandonedRun } from '../support/host-stage.ts'
import { until } from '../support/until.ts'

describe('a launch that admits nothing', () => {
  it('is tried once more, then given up and its task cancelled', async () => {
    const stage = await covered()
    await stage.core.plan('task-1')
    await exit(stage, 0, { code: 'io', message: 'bwrap is missing' })
    expect(await stage.tasks.show('task-1')).toMatchObject({ status: 'queued' })
    await stage.clock.advance(autostartSweepMs)
    await until(() => stage.owners.length === 2)
    await exit(stage, 1, { code: 'io', message: 'bwrap is missing' })
    expect(await stage.tasks.show('task-1')).toMatchObject({
      status: 'cancelled',
      cancellation_reason: expect.stringContaining('bwrap is missing'),
    })
    expect((await stage.journal()).slice(3)).toEqual([
      'unadmitted task-1',
      'retry task-1',
      'started task-1',
      'unadmitted task-1',
      'not_started task-1',
    ])
    const file = JSON.parse(await readFile(`${stage.storeDir}/task/task-1.json`, 'utf8'))
    expect(JSON.parse(file.commands.at(-1).request).command_id).toBe('autostart-not-started-task-1')
  })

  it('is given up at once for a cause that stays', async () => {
    const stage = await covered()
    await stage.core.plan('task-1')
    await exit(stage, 0, { code: 'invalid_command', message: 'the tree cannot be read whole' })
    expect(await stage.tasks.show('task-1')).toMatchObject({ status: 'cancelled' })
  })

  it.each(['workspace_busy', 'store_busy'])('is only put off by %s, however often', async (code) => {
    const stage = await covered()
    await stage.core.plan('task-1')
    for (let launch = 0; launch < 4; launch += 1) {
      await exit(stage, launch, { code, message: 'not now' })
      expect(stage.owners).toHaveLength(launch + 1)
      expect(await stage.noteOf('task-1')).toMatch(/^waiting to be tried again: [a-z ]+$/)
      await stage.clock.advance(autostartSweepMs)
      await until(() => stage.owners.length === launch + 2)
    }
    expect(await stage.tasks.show('task-1')).toMatchObject({ status: 'queued' })
  })

  it('that a correction overtook is launched again at once, at the new revision', async () => {
    const stage = await covered()
    await stage.core.plan('task-1')
    await stage.act('task-1', { type: 'correct', prompt: 'Other.', reason: 'why' })
    await exit(stage, 0, { code: 'revision_mismatch', message: 'moved' })
    expect(stage.owners).toHaveLength(2)
    const { grant } = parseExecutionGrant(await readFile(stage.owners[1]?.launch.grantPath ?? ''))
    expect(grant.expected_revision).toBe(2)
  })

  it('is noticed by a later service, whose owner it never was', async () => {
    const stage = await covered()
    await stage.core.plan('task-1')
    await stage.core.close()
    const later = stage.reopen()
    await later.sweep()
    expect((await stage.journal()).slice(3)).toEqual(['unadmitted task-1', 'retry task-1'])
    await later.close()
  })
})

describe('a run whose owner is gone', () => {
  it('is settled by the sweep, noted in plain words, and told', async () => {
    const stage = await covered()
    await stage.core.plan('task-1')
    await abandonedRun(stage, 'task-1', stage.workspace, null)
    await stage.clock.advance(autostartSweepMs)
    await until(() => stage.ended.length === 1)
    expect(await stage.tasks.show('task-1')).toMatchObject({
      status: 'finished',
      run: { result: { ending: 'owner_process_ended' } },
    })
    await stage.core.plan('task-1')
    expect(await stage.details('ended')).toEqual(['the owner process is gone'])
  })

  it('is settled the moment its owner exits', async () => {
    const stage = await covered()
    await stage.core.plan('task-1')
    await abandonedRun(stage, 'task-1', stage.workspace, null)
    await exit(stage, 0)
    expect(await stage.tasks.show('task-1')).toMatchObject({ status: 'finished', execution: 'failed' })
  })

  it('is settled without any policy too', async () => {
    const stage = await coreStage()
    await stage.submit('task-1', stage.workspace)
    await abandonedRun(stage, 'task-1', stage.workspace, null)
    await stage.core.sweep()
    expect(stage.ended).toEqual(['task-1'])
  })
})

describe('switching auto-start on', () => {
  it.each([
    ['an unknown label', { workspaces: ['other'] }, 'not_found'],
    ['too many at once', { max_running: 9 }, 'invalid_command'],
    ['no workspace', { workspaces: [] }, 'invalid_command'],
    ['a program that is not there', { program: '/not/there' }, 'io'],
    ['a program that is a directory', { program: '/usr/bin' }, 'unsafe_path'],
  ])('refuses %s', async (_name, over, code) => {
    const stage = await coreStage()
    await expect(stage.switchOn(over)).rejects.toMatchObject({ code })
    expect(await stage.journal()).toEqual([])
  })

  it('refuses a program that its own turns could rewrite, unless they only read', async () => {
    const stage = await coreStage()
    await mkdir(join(stage.workspace, 'bin'))
    const program = join(stage.workspace, 'bin/program')
    await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
    await expect(stage.switchOn({ program })).rejects.toMatchObject({ code: 'unsafe_path' })
    expect(await stage.switchOn({ program, write_workspace: false })).toMatchObject({ enabled: true })
  })

  it('pins the canonical program', async () => {
    const stage = await coreStage()
    const { engine } = await stage.switchOn({ program: '/bin/sh' })
    expect(engine.program).toBe('/usr/bin/dash')
    expect(engine.program_digest).toMatch(/^sha256:[0-9a-f]{64}$/)
  })
})

describe('steering', () => {
  it("goes by the task's adapter", async () => {
    const stage = await covered()
    const row = stage.core.steeringOf(await stage.tasks.show('task-1'))
    expect(row).toMatchObject({ adapter: 'bounded-command', native: 'turn_boundary', emulation: null })
  })
})
