import { readFile, utimes, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { switchOff } from '../../../src/host/autostart/change-policy.ts'
import { autostartSweepMs } from '../../../src/limits.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { type CoreStage, coreStage, covered, exit } from '../../support/core-stage.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'

const changedProgram = 'the program changed since the policy was made'

/** A stage whose covered task was skipped because the pinned program is another. */
async function skipped(): Promise<CoreStage> {
  const stage = await covered()
  await writeFile(stage.program, '#!/bin/sh\necho upgraded\n')
  await stage.core.plan('task-1')
  expect(await stage.details('skipped')).toEqual([changedProgram])
  return stage
}

describe('a turn that was skipped because of its program', () => {
  it('says so in its note and in one line of the log, however often it is swept', async () => {
    const stage = await skipped()
    await stage.core.sweep()
    await stage.core.plan('task-1')
    expect(await stage.noteOf('task-1')).toBe(`waiting for the operator: ${changedProgram}`)
    expect(stage.warnings).toEqual([
      {
        facts: { task: 'task-1', reason: changedProgram },
        message: 'the auto-start policy did not start a turn',
      },
    ])
    expect(stage.owners).toEqual([])
  })

  it('starts once the policy is said again', async () => {
    const stage = await skipped()
    await stage.switchOn()
    await stage.core.sweep()
    expect(stage.owners).toHaveLength(1)
    expect(await stage.noteOf('task-1')).toBeNull()
    expect((await stage.journal()).slice(1)).toEqual([
      'eligible task-1',
      'skipped task-1',
      'policy_on',
      'retry task-1',
      'started task-1',
    ])
  })

  it('does not start when the program alone is what it was: the policy must be said', async () => {
    const stage = await skipped()
    await writeFile(stage.program, '#!/bin/sh\n')
    await stage.core.sweep()
    expect(stage.owners).toEqual([])
    await stage.switchOn()
    await stage.core.sweep()
    expect(stage.owners).toHaveLength(1)
  })

  it('stays held by a policy whose own program changed too, without another word', async () => {
    const stage = await skipped()
    await stage.switchOn()
    await writeFile(stage.program, '#!/bin/sh\necho upgraded twice\n')
    await stage.core.sweep()
    expect(await stage.details('skipped')).toHaveLength(1)
    expect(await stage.noteOf('task-1')).toBe(`waiting for the operator: ${changedProgram}`)
  })

  it('is left alone when it was cancelled meanwhile', async () => {
    const stage = await skipped()
    await stage.act('task-1', { type: 'cancel', reason: 'no' })
    expect(await stage.noteOf('task-1')).toBeNull()
    await stage.switchOn()
    await stage.core.sweep()
    expect((await stage.journal()).filter((line) => line.startsWith('retry'))).toEqual([])
  })
})

describe('a turn whose workspace was taken out of the policy', () => {
  it('waits with that reason, and starts when a policy covers it again', async () => {
    const stage = await covered()
    await stage.submit('task-2', stage.workspace)
    await stage.core.plan('task-1')
    await stage.core.plan('task-2')
    const path = `${stage.home}/host/autostart.json`
    const policy = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...policy, workspaces: ['other'], max_running: 2 }))
    await stage.core.sweep()
    expect(await stage.noteOf('task-2')).toBe('waiting for the operator: the workspace is no longer admitted')
    await stage.switchOn({ max_running: 2 })
    await stage.core.sweep()
    expect(stage.owners).toHaveLength(2)
    expect((await stage.journal()).slice(-2)).toEqual(['retry task-2', 'started task-2'])
  })
})

describe('a task that already waited when the policy was made', () => {
  /** Sets the time of a task's file to that of the policy, moved by so many microseconds. */
  async function changedAround(stage: CoreStage, taskId: string, microseconds: bigint): Promise<void> {
    const made = (await realDisk.identity(`${stage.home}/host/autostart.json`))?.mtimeNs ?? 0n
    const at = Number(made / 1000n + microseconds) / 1e6
    await utimes(`${stage.storeDir}/task/${taskId}.json`, at, at)
  }

  it.each([
    ['a millisecond before', -1_000n, 0],
    ['half a second before', -500_000n, 0],
    ['a millisecond after', 1_000n, 1],
  ])('is told from a later one exactly: %s', async (_name, microseconds, owners) => {
    const stage = await covered()
    await changedAround(stage, 'task-1', microseconds)
    await stage.core.sweep()
    await stage.core.plan('task-1')
    expect(stage.owners).toHaveLength(owners)
    const note = 'waiting for the operator: it waited before the auto-start policy was made'
    expect(await stage.noteOf('task-1')).toBe(owners === 0 ? note : null)
  })
})

describe('the note of a task that no policy starts', () => {
  it('says that auto-start is off, with no policy and with one that is off', async () => {
    const stage = await coreStage()
    await stage.submit('task-1', stage.workspace)
    expect(await stage.noteOf('task-1')).toBe('waiting for the operator: auto-start is off')
    await stage.switchOn()
    await switchOff({ disk: realDisk, clock: stage.clock, home: stage.home, workspaces: [] })
    expect(await stage.noteOf('task-1')).toBe('waiting for the operator: auto-start is off')
  })

  it('says that no policy covers its project', async () => {
    const stage = await covered()
    await stage.submit('task-2', await tempDir())
    expect(await stage.noteOf('task-2')).toBe(
      'waiting for the operator: no auto-start policy covers this project',
    )
  })

  it('says that the policy is for another adapter', async () => {
    const stage = await covered()
    const intent = {
      title: 't',
      prompt: 'p',
      workspace: { path: stage.workspace, source_revision: null },
      configuration: { adapter: 'acp-agent', model: null },
    }
    const command = {
      schema: 'openagents.coder.task-command.v1',
      command_id: 'other-adapter',
      task_id: 'task-2',
      expected_revision: null,
      action: { type: 'submit', intent },
    }
    await stage.tasks.apply(new TextEncoder().encode(JSON.stringify(command)))
    expect(await stage.noteOf('task-2')).toBe(
      'waiting for the operator: the auto-start policy is for another adapter or model',
    )
  })
})

describe('a launch that admits nothing', () => {
  it('is logged with its code each time, and noted by its code while it is to be tried again', async () => {
    const stage = await covered()
    await stage.core.plan('task-1')
    await exit(stage, 0, { code: 'io', message: 'bwrap is not installed' })
    expect(await stage.noteOf('task-1')).toBe('waiting to be tried again: the start was refused (io)')
    await stage.clock.advance(autostartSweepMs)
    await until(() => stage.owners.length === 2)
    await until(async () => (await stage.noteOf('task-1')) === null)
    await exit(stage, 1, { code: 'io', message: 'bwrap is not installed' })
    const facts = { task: 'task-1', code: 'io', reason: 'io: bwrap is not installed' }
    expect(stage.warnings).toEqual([
      {
        facts,
        message: 'a turn that the auto-start policy started was not admitted; it is tried again',
      },
      {
        facts,
        message: 'a turn that the auto-start policy started was not admitted; its task is cancelled',
      },
    ])
  })
})
