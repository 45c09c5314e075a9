import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TaskContext } from '../../src/bridge/operations/context.ts'
import { createTask } from '../../src/bridge/operations/task-create.ts'
import { tasksMax } from '../../src/limits.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { taskCommandSchemaName } from '../../src/store/tasks/command.ts'
import { rotateStore } from '../../src/store/tasks/rotate.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import { grantEntry, id, keys, relay } from '../support/access.ts'
import { tempDir } from '../support/temp-dir.ts'

const asked = { title: 'Tidy', prompt: 'Sort the entries.', workspace: 'site' }
const device = { kind: 'device', key: keys.phone, entry: grantEntry() } as const
const byDevice = { principal: device, signer: keys.phone, request: id(1), relay }
const byOwner = {
  principal: { kind: 'owner', key: keys.owner },
  signer: keys.owner,
  request: id(1),
  relay,
} as const

async function stage(path = '/srv/site') {
  const dir = join(await tempDir(), 'tasks')
  const tasks = await openTaskStore(realDisk, systemClock, dir)
  const planned: [string, string | undefined][] = []
  let workspaces = [{ label: 'site', path }]
  const context = {
    disk: realDisk,
    clock: systemClock,
    tasks,
    core: { plan: async (task: string, by?: string) => void planned.push([task, by]) },
    settings: () => ({ workspaces }),
    mayCreate: () => true,
  } as unknown as TaskContext
  return {
    dir,
    tasks,
    context,
    planned,
    move(to: string) {
      workspaces = [{ label: 'site', path: to }]
    },
  }
}

function cancelBytes(task_id: string): Uint8Array {
  const action = { type: 'cancel', reason: 'no longer wanted' }
  const schema = taskCommandSchemaName
  return Buffer.from(JSON.stringify({ schema, command_id: 'cancel', task_id, expected_revision: 1, action }))
}

describe('creating a task', () => {
  it('submits it once and plans it at once, naming the device', async () => {
    const { context, tasks, planned } = await stage()
    const task = await createTask(context, byDevice, asked)
    expect(task).toBe(deviceTaskId(keys.phone, id(1)))
    expect((await tasks.show(task)).intent).toEqual({
      title: 'Tidy',
      prompt: 'Sort the entries.',
      workspace: { path: '/srv/site', source_revision: null },
      configuration: { adapter: 'bounded-command', model: null },
    })
    expect(planned).toEqual([[task, keys.phone]])
  })

  it('finds it in a store that was put aside, makes no second one and plans nothing', async () => {
    const { context, dir, tasks, planned } = await stage()
    const task = await createTask(context, byDevice, asked)
    await tasks.apply(cancelBytes(task))
    await rotateStore(realDisk, systemClock, dir, async () => {})
    const next = { ...context, tasks: await openTaskStore(realDisk, systemClock, dir) }
    expect(await createTask(next, byDevice, asked)).toBe(task)
    const other = createTask(next, byDevice, { ...asked, prompt: 'Something else.' })
    await expect(other).rejects.toMatchObject({ code: 'conflict' })
    expect(await next.tasks.list()).toEqual([])
    expect(planned).toHaveLength(1)
  })

  it('finds it again whatever became of its label since', async () => {
    const { context, move, tasks } = await stage()
    const task = await createTask(context, byDevice, asked)
    move('/srv/elsewhere')
    expect(await createTask(context, byDevice, asked)).toBe(task)
    expect((await tasks.list()).length).toBe(1)
    const other = createTask(context, byDevice, { ...asked, prompt: 'Something else.' })
    await expect(other).rejects.toMatchObject({ code: 'conflict' })
  })

  it('refuses bounds for a prompt that the store could not take', async () => {
    const { context } = await stage()
    const created = createTask(context, byDevice, { ...asked, prompt: 'Ring the bell\u0007' })
    await expect(created).rejects.toMatchObject({ code: 'bounds' })
  })

  it('the same request ID of another signer is another task', async () => {
    const { context } = await stage()
    expect(await createTask(context, byOwner, asked)).not.toBe(await createTask(context, byDevice, asked))
  })

  it('keeps a tenth of the store for the owner', async () => {
    const { context, dir } = await stage()
    const share = Math.floor(tasksMax * 0.9)
    await Promise.all(
      Array.from({ length: share }, (_, index) =>
        writeFile(join(dir, 'task', `task-${index}.json`), '', { mode: 0o600 }),
      ),
    )
    const ids = Array.from(
      { length: share },
      (_, index) => `{"command_id":"submit-${index}","task_id":"task-${index}","submit":true}\n`,
    )
    await writeFile(join(dir, 'identities.log'), ids.join(''))
    await expect(createTask(context, byDevice, asked)).rejects.toMatchObject({ code: 'limit_exceeded' })
    expect(await createTask(context, byOwner, asked)).toBe(deviceTaskId(keys.owner, id(1)))
  })
})
