import { access, mkdir, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { GrantTerms } from '../../../src/host/grant-draft.ts'
import { executeGrant, type OwnerDeps } from '../../../src/host/owner/execute.ts'
import { settle } from '../../../src/host/settle.ts'
import { readIdentity } from '../../../src/host/supervise/process-identity.ts'
import { writeProcessFile } from '../../../src/host/turn-files.ts'
import { snapshotBytesMax } from '../../../src/limits.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { gitWorkspace } from '../../support/git-workspace.ts'
import { abandonedRun, grantBytes, shellTerms } from '../../support/host-stage.ts'
import { interruptedDisk, type OwnerStage, ownerStage } from '../../support/owner-stage.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Runs a grant made from the task and then changed. */
async function runChanged(
  stage: OwnerStage,
  change: object,
  taskId = 'task-1',
  over: Partial<OwnerDeps> = {},
) {
  const text = new TextDecoder().decode(grantBytes(await stage.tasks.show(taskId), shellTerms('touch ran')))
  const grant = { ...JSON.parse(text), ...change }
  return executeGrant(stage.deps(over), new TextEncoder().encode(JSON.stringify(grant)))
}

/** A second task of the stage, in a workspace of its own. */
async function runIn(stage: OwnerStage, path: string, over: Partial<GrantTerms> = {}) {
  const task = await stage.submit('task-2', path)
  return executeGrant(stage.deps(), grantBytes(task, shellTerms('touch ran', over)))
}

async function expectNothingRecorded(stage: OwnerStage, taskId = 'task-1') {
  const task = await stage.tasks.show(taskId)
  expect(task).toMatchObject({ status: 'queued', revision: 1 })
  expect(task.run).toBeUndefined()
  await expect(access(`${stage.storeDir}/${taskId}.1.atif.jsonl`)).rejects.toThrow()
}

describe('a grant that is refused before admission records nothing', () => {
  it.each<[string, object, string]>([
    ['an adapter configuration', { adapter_configuration: {} }, 'invalid_command'],
    ['an unknown task', { task_id: 'task-9' }, 'not_found'],
    ['another intent', { intent_digest: `sha256:${'0'.repeat(64)}` }, 'revision_mismatch'],
    ['an intent digest without its prefix', { intent_digest: '0'.repeat(64) }, 'revision_mismatch'],
    ['another revision', { expected_revision: 2 }, 'revision_mismatch'],
    ['a program reached over a link', { program: '/bin/sh' }, 'unsafe_path'],
    ['a program that is a directory', { program: '/usr/bin' }, 'unsafe_path'],
    ['a program that is not there', { program: '/usr/bin/not-there' }, 'unsafe_path'],
    ['another tree', { expected_source_snapshot: '0'.repeat(64) }, 'invalid_command'],
  ])('%s', async (_name, change, code) => {
    const stage = await ownerStage()
    await expect(runChanged(stage, change)).rejects.toMatchObject({ code })
    await expectNothingRecorded(stage)
  })

  it('a malformed grant, before any store is made', async () => {
    const stage = await ownerStage()
    const storeDir = join(await tempDir(), 'never')
    const bytes = new TextEncoder().encode('{')
    await expect(executeGrant(stage.deps({ storeDir }), bytes)).rejects.toMatchObject({
      code: 'invalid_command',
    })
    await expect(access(storeDir)).rejects.toThrow()
  })

  it('a task that was cancelled, or has run', async () => {
    const stage = await ownerStage()
    await stage.run('true')
    await expect(stage.run('true')).rejects.toMatchObject({ code: 'invalid_transition' })
    const other = await ownerStage()
    await other.act('task-1', { type: 'cancel', reason: 'no' })
    await expect(other.run('true')).rejects.toMatchObject({ code: 'invalid_transition' })
  })

  it('a workspace that is gone', async () => {
    const stage = await ownerStage()
    await rename(stage.workspace.path, `${stage.workspace.path}-moved`)
    await expect(stage.run('true')).rejects.toMatchObject({ code: 'io' })
    await expectNothingRecorded(stage)
  })

  it('a workspace inside the store, and a store inside the workspace', async () => {
    const stage = await ownerStage()
    const inside = join(stage.storeDir, 'checkout')
    await mkdir(inside, { mode: 0o700 })
    await expect(runIn(stage, inside)).rejects.toMatchObject({ code: 'unsafe_path' })
    const other = await ownerStage()
    await expect(runIn(other, other.home)).rejects.toMatchObject({ code: 'unsafe_path' })
    await expectNothingRecorded(other, 'task-2')
  })

  it('a source revision that is not checked out', async () => {
    const stage = await ownerStage()
    const task = await stage.submit('task-2', stage.workspace.path, { sourceRevision: '0'.repeat(40) })
    const bytes = grantBytes(task, shellTerms('true'))
    await expect(executeGrant(stage.deps(), bytes)).rejects.toMatchObject({ code: 'invalid_command' })
    const pinned = await stage.submit('task-3', stage.workspace.path, {
      sourceRevision: stage.workspace.head,
    })
    const done = await executeGrant(stage.deps(), grantBytes(pinned, shellTerms('true')))
    expect(done.execution).toBe('finished')
  })

  it('a workspace that is no checkout', async () => {
    const stage = await ownerStage()
    await expect(runIn(stage, await tempDir())).rejects.toMatchObject({ code: 'io' })
  })

  it('a writing grant on a checkout that holds its own git directory, which a reading one may use', async () => {
    const stage = await ownerStage()
    const { repository } = await gitWorkspace()
    await expect(runIn(stage, repository)).rejects.toMatchObject({ code: 'io' })
    await expectNothingRecorded(stage, 'task-2')
    const task = await stage.tasks.show('task-2')
    const bytes = grantBytes(task, shellTerms('touch ran || true', { write_workspace: false }))
    expect(await executeGrant(stage.deps(), bytes)).toMatchObject({ execution: 'finished' })
    await expect(access(join(repository, 'ran'))).rejects.toThrow()
  })

  it('a workspace that cannot be read whole, naming what', async () => {
    const stage = await ownerStage()
    const huge = join(stage.workspace.path, 'huge')
    await writeFile(huge, '')
    await truncate(huge, snapshotBytesMax + 1)
    await expect(stage.run('true')).rejects.toMatchObject({
      code: 'invalid_command',
      message: expect.stringMatching(/cannot be read whole: .+/),
    })
    await expectNothingRecorded(stage)
  })

  it('a lock file that is missing although the task has run', async () => {
    const stage = await ownerStage()
    await stage.run('true')
    await stage.act('task-1', { type: 'continue', prompt: 'Again.' })
    await realDisk.remove(stage.tasks.ownerLockPath('task-1'))
    await expect(stage.run('true')).rejects.toMatchObject({ code: 'corrupt_store' })
  })
})

describe('overlapping workspaces', () => {
  async function othersRun(stage: OwnerStage, workspace: string, isAlive: boolean) {
    await stage.submit('task-2', workspace)
    const task = await abandonedRun(stage, 'task-2', workspace, process.pid)
    const identity = readIdentity(process.pid)
    if (identity === null) throw new Error('this process has no identity')
    const start_ticks = isAlive ? identity.start_ticks : identity.start_ticks + 1
    await writeProcessFile(realDisk, stage.storeDir, task, { ...identity, start_ticks, pid_namespace: null })
  }

  it.each([
    ['the same tree', (path: string) => path],
    ['a tree around it', (path: string) => join(path, '..')],
    ['a tree inside it', (path: string) => join(path, 'list')],
  ])('a living run in %s refuses the admission', async (_name, other) => {
    const stage = await ownerStage()
    await othersRun(stage, other(stage.workspace.path), true)
    await expect(stage.run('true')).rejects.toMatchObject({ code: 'workspace_busy' })
    await expectNothingRecorded(stage)
  })

  it('a run in a tree whose name only begins alike does not', async () => {
    const stage = await ownerStage()
    await othersRun(stage, `${stage.workspace.path}-2`, true)
    expect(await stage.run('true')).toMatchObject({ execution: 'finished' })
  })

  it('a dead run is settled first and keeps nobody out', async () => {
    const stage = await ownerStage()
    await othersRun(stage, stage.workspace.path, false)
    expect(await stage.run('true')).toMatchObject({ execution: 'finished' })
    expect(await stage.tasks.show('task-2')).toMatchObject({
      status: 'finished',
      run: { result: { ending: 'owner_process_ended' } },
    })
  })
})

describe('what changes between admission and dispatch', () => {
  it('a changed tree starts nothing and records nothing more; settle ends it', async () => {
    const stage = await ownerStage()
    const disk = interruptedDisk('.atif.jsonl', () => writeFile(join(stage.workspace.path, 'new'), 'x'))
    await expect(stage.run('touch ran', {}, { disk })).rejects.toMatchObject({ code: 'invalid_command' })
    const task = await stage.tasks.show('task-1')
    expect(task).toMatchObject({
      status: 'running',
      run: { effect_id: 'task-1:1:command', process_id: null, result: null },
    })
    await expect(access(join(stage.workspace.path, 'ran'))).rejects.toThrow()
    const settled = await settle({ disk: realDisk, tasks: stage.tasks }, 'task-1')
    expect(settled).toMatchObject({ execution: 'failed', run: { result: { ending: 'owner_process_ended' } } })
  })

  it.each<[string, (program: string) => Promise<void>]>([
    ['another content', (program) => writeFile(program, '#!/usr/bin/dash\necho other\n')],
    [
      'a link',
      async (program) => {
        await rename(program, `${program}.real`)
        await symlink(`${program}.real`, program)
      },
    ],
  ])('a program with %s starts nothing', async (_name, change) => {
    const stage = await ownerStage()
    const program = join(await tempDir(), 'program')
    await writeFile(program, '#!/usr/bin/dash\necho one\n', { mode: 0o755 })
    const disk = interruptedDisk('.atif.jsonl', () => change(program))
    await expect(stage.run('', { program, arguments: [] }, { disk })).rejects.toMatchObject({
      code: expect.stringMatching(/^(invalid_command|unsafe_path)$/),
    })
    expect((await stage.tasks.show('task-1')).run?.process_id).toBeNull()
  })
})

describe('two owners of one task', () => {
  it('run it once', async () => {
    const stage = await ownerStage()
    const both = await Promise.allSettled([stage.run('echo x >> runs'), stage.run('echo x >> runs')])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const refused = both.find(({ status }) => status === 'rejected')
    expect(refused).toMatchObject({ reason: { code: 'invalid_transition' } })
    const store = await openTaskStore(realDisk, stage.deps().clock, stage.storeDir)
    expect((await store.show('task-1')).revision).toBe(5)
  })
})
