import { readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { switchOff } from '../../src/host/autostart/change-policy.ts'
import { realDisk } from '../../src/store/disk.ts'
import { parseExecutionGrant } from '../../src/store/tasks/grant.ts'
import { type CoreStage, coreStage, covered, exit, runToEnd } from '../support/core-stage.ts'
import { abandonedRun } from '../support/host-stage.ts'

describe('planning a task', () => {
  it('starts a covered one at once, with a grant of the policy for its current turn', async () => {
    const stage = await covered()
    await stage.core.plan('task-1', 'device-1')
    expect(stage.owners).toHaveLength(1)
    const saved = await readFile(stage.owners[0]?.launch.grantPath ?? '')
    const { grant, digest } = parseExecutionGrant(saved)
    expect(grant).toMatchObject({
      task_id: 'task-1',
      expected_revision: 1,
      program: stage.program,
      arguments: ['-x'],
      write_workspace: true,
      wall_seconds: 60,
    })
    expect(Buffer.compare(saved, await readFile(`${stage.home}/host/autostart/task-1-1.grant.json`))).toBe(0)
    const lines = (await readFile(`${stage.home}/host/autostart.jsonl`, 'utf8')).trimEnd().split('\n')
    expect(lines.slice(1).map((line) => JSON.parse(line))).toMatchObject([
      { event: 'eligible', task: 'task-1', device: 'device-1', workspace: 'demo' },
      { event: 'started', task: 'task-1', grant_digest: digest, owner_process: stage.owners[0]?.pid },
    ])
  })

  it('starts a turn once, however often it is planned', async () => {
    const stage = await covered()
    await Promise.all([stage.core.plan('task-1'), stage.core.plan('task-1'), stage.core.sweep()])
    expect(stage.owners).toHaveLength(1)
  })

  it.each<[string, (stage: CoreStage) => Promise<unknown>]>([
    ['without a policy', async () => {}],
    [
      'under a policy that is off',
      async (stage) => {
        await stage.switchOn()
        await switchOff({ disk: realDisk, clock: stage.clock, home: stage.home, workspaces: [] })
      },
    ],
    [
      'under a policy that does not read',
      async (stage) => {
        await stage.switchOn()
        await writeFile(`${stage.home}/host/autostart.json`, '{"schema":')
      },
    ],
  ])('%s starts nothing and notes nothing of it', async (_name, prepare) => {
    const stage = await coreStage()
    await prepare(stage)
    await stage.submit('task-1', stage.workspace)
    await stage.core.plan('task-1')
    await stage.core.sweep()
    expect(stage.owners).toEqual([])
    expect((await stage.journal()).filter((line) => line.includes('task-1'))).toEqual([])
  })

  it('leaves a task of another workspace alone, and one that is not waiting', async () => {
    const stage = await covered()
    await stage.submit('task-2', '/srv/elsewhere')
    await stage.act('task-1', { type: 'cancel', reason: 'no' })
    for (const id of ['task-1', 'task-2', 'task-none']) await stage.core.plan(id)
    expect(stage.owners).toEqual([])
    expect(await stage.journal()).toEqual(['policy_on'])
  })

  it('finds by the sweep what nobody planned, unless it waited before the policy was made', async () => {
    const stage = await coreStage()
    await stage.submit('task-0', stage.workspace)
    await utimes(`${stage.storeDir}/task/task-0.json`, 1, 1)
    await stage.switchOn({ max_running: 8 })
    await stage.submit('task-1', stage.workspace)
    await stage.core.sweep()
    expect((await stage.journal()).slice(1)).toEqual(['eligible task-1', 'started task-1'])
  })

  it('starts each later turn too, at its own revision', async () => {
    const stage = await covered()
    await stage.core.plan('task-1')
    await runToEnd(stage, 'task-1')
    await stage.act('task-1', { type: 'continue', prompt: 'Again.' })
    await stage.core.plan('task-1')
    expect(stage.owners).toHaveLength(2)
    const turn = (await stage.tasks.show('task-1')).revision
    expect(await stage.journal()).toEqual([
      'policy_on',
      'eligible task-1',
      'started task-1',
      `eligible task-1@${turn}`,
      'ended task-1',
      `started task-1@${turn}`,
    ])
  })
})

describe('room', () => {
  it('holds back what the policy has no room for, says why, and starts it when a turn ends', async () => {
    const stage = await covered()
    await stage.submit('task-2', stage.workspace)
    await stage.core.plan('task-1')
    await stage.core.plan('task-2')
    expect(stage.owners).toHaveLength(1)
    expect(await stage.noteOf('task-2')).toBe('waiting for a running turn to end')
    expect(await stage.noteOf('task-1')).toBeNull()
    await runToEnd(stage, 'task-1')
    await exit(stage, 0)
    expect(stage.ended).toEqual(['task-1'])
    expect(stage.owners).toHaveLength(2)
    expect(await stage.noteOf('task-2')).toBeNull()
    expect(await stage.details('ended')).toEqual(['the turn ended: finished'])
  })

  it('skips a workspace that another task reserves, and says so', async () => {
    const stage = await covered({ max_running: 8 })
    await stage.submit('task-0', join(stage.workspace, 'part'))
    await abandonedRun(stage, 'task-0', join(stage.workspace, 'part'), null)
    const lock = await stage.ownerLock('task-0')
    await stage.core.plan('task-1')
    expect(stage.owners).toEqual([])
    expect(await stage.noteOf('task-1')).toBe('another task is still running in this project')
    await lock.release()
    await stage.core.sweep()
    expect(stage.ended).toEqual(['task-0'])
    expect(stage.owners).toHaveLength(1)
  })
})

describe('what is no longer to be started is skipped', () => {
  /** A stage whose task waits for room while `change` happens to it. */
  async function waiting(change: (stage: CoreStage) => Promise<unknown>): Promise<CoreStage> {
    const stage = await covered()
    await stage.submit('task-2', stage.workspace)
    await stage.core.plan('task-1')
    await stage.core.plan('task-2')
    await change(stage)
    await runToEnd(stage, 'task-1')
    await exit(stage, 0)
    expect(stage.owners).toHaveLength(1)
    return stage
  }

  it('a cancelled turn', async () => {
    const stage = await waiting((one) => one.act('task-2', { type: 'cancel', reason: 'no' }))
    expect(await stage.details('skipped')).toEqual(['the turn is no longer queued'])
  })

  it('a turn whose program changed since', async () => {
    const stage = await waiting((one) => writeFile(one.program, '#!/bin/sh\necho other\n'))
    expect(await stage.details('skipped')).toEqual(['the program changed since the policy was made'])
    await stage.core.sweep()
    expect(await stage.details('skipped')).toHaveLength(1)
  })

  it('a turn whose workspace the policy no longer names', async () => {
    const stage = await waiting(async (one) => {
      const policy = JSON.parse(await readFile(`${one.home}/host/autostart.json`, 'utf8'))
      await writeFile(`${one.home}/host/autostart.json`, JSON.stringify({ ...policy, workspaces: ['other'] }))
    })
    expect(await stage.details('skipped')).toEqual(['the workspace is no longer admitted'])
  })
})
