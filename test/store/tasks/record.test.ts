import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../../src/store/disk.ts'
import type { HostEvent } from '../../../src/store/tasks/host-event.ts'
import { overlaps } from '../../../src/store/tasks/reservation.ts'
import { refused } from '../../support/refusals.ts'
import {
  admissionOf,
  admitted,
  cancel,
  correct,
  effectIntent,
  goOn,
  newStore,
  resultEvent,
  runningTask,
  runThrough,
  submit,
  words,
} from './samples.ts'

describe('recording a host event', () => {
  it('writes it exactly, under the next sequence, and adds no identity', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    const task = await store.show('task-1')
    const identities = await readFile(join(dir, 'identities.log'), 'utf8')
    const running = await store.record('task-1', admitted(task), 1)
    const text = await readFile(join(dir, 'task', 'task-1.json'), 'utf8')
    expect(text).toContain(`"task":${JSON.stringify(running)},"commands":[`)
    expect(text.slice(text.indexOf(',"host_events"'))).toBe(
      ',"host_events":[{"sequence":2,"task_id":"task-1","epoch":1,"event":{"type":"admitted",' +
        `"admission":${JSON.stringify(admissionOf(task))}}}]}`,
    )
    expect(await readFile(join(dir, 'identities.log'), 'utf8')).toBe(identities)
    expect((await store.apply(cancel('task-1', 2))).sequence).toBe(3)
  })

  it('takes a bounded command through its revisions, also for a reopened store', async () => {
    const { store, reopen } = await newStore()
    await store.apply(submit('task-1'))
    expect(words(await runThrough(store, 'task-1'))).toEqual([5, 'finished', 'finished', 'not_run'])
    await store.apply(goOn('task-1', 5))
    await store.apply(correct('task-1', 6))
    const second = await runThrough(store, 'task-1', { exit_code: 1, ending: 'exit 1' })
    expect(words(second)).toEqual([11, 'finished', 'failed', 'not_run'])
    expect(second.earlier).toHaveLength(1)
    expect(await (await reopen()).show('task-1')).toEqual(second)
  })

  it('refuses not_found, a wrong shape, and conditions that do not hold, and writes nothing', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    const task = await store.show('task-1')
    const before = await readFile(join(dir, 'task', 'task-1.json'), 'utf8')
    await refused('not_found', store.record('task-2', admitted(task), 1))
    await refused('not_found', store.record('../x', admitted(task), 1))
    await refused('invalid_transition', store.record('task-1', resultEvent(), 1))
    await refused('invalid_transition', store.record('task-1', admitted(task), 2))
    const shapeless: HostEvent = Object.assign(admitted(task), { more: 1 })
    await refused('invalid_transition', store.record('task-1', shapeless, 1))
    expect(await readFile(join(dir, 'task', 'task-1.json'), 'utf8')).toBe(before)
  })

  it('keeps only the fields of the event, whoever made it', async () => {
    const { store, reopen } = await newStore()
    await store.apply(submit('task-1'))
    const { grant, ...rest } = admissionOf(await store.show('task-1'))
    await store.record('task-1', { type: 'admitted', admission: { ...rest, grant } }, 1)
    expect(Object.keys((await (await reopen()).show('task-1')).run?.admission ?? {})[0]).toBe('grant')
  })

  it('refuses a stale owner after recovery advanced the epoch', async () => {
    const { store } = await newStore()
    await runningTask(store, 'task-1')
    await store.record('task-1', { type: 'owner_lost' }, 2)
    const late = await store.show('task-1')
    await refused('invalid_transition', store.record('task-1', effectIntent(late), 1))
    await refused('invalid_transition', store.record('task-1', resultEvent(), 1))
  })
})

describe('the locks of a recorder', () => {
  it('an owner lock must be the one of this task and still in place', async () => {
    const { store } = await newStore()
    await store.apply(submit('task-1'))
    const event = admitted(await store.show('task-1'))
    const foreign = await realDisk.lock(store.ownerLockPath('task-2'), 0, { create: true })
    await refused('unsafe_path', store.record('task-1', event, 1, foreign))
    const path = store.ownerLockPath('task-1')
    const owner = await realDisk.lock(path, 0, { create: true })
    await rename(path, `${path}.old`)
    await refused('unsafe_path', store.record('task-1', event, 1, owner))
    await writeFile(path, '', { mode: 0o600 })
    await refused('unsafe_path', store.record('task-1', event, 1, owner))
    await rename(`${path}.old`, path)
    expect((await store.record('task-1', event, 1, owner)).status).toBe('running')
    await owner.release()
    await refused('unsafe_path', store.record('task-1', event, 1, owner))
  })

  it('a held task lock keeps commands out until it is given back', async () => {
    const { store, reopen } = await newStore(realDisk, { waitMs: 30 })
    const running = await runningTask(store, 'task-1')
    const hold = await store.lockTask('task-1')
    await refused('store_busy', store.apply(cancel('task-1', 2)))
    await refused('store_busy', (await reopen()).apply(cancel('task-1', 2)))
    await refused('store_busy', store.record('task-1', effectIntent(running), 1))
    await store.record('task-1', effectIntent(running), 1, undefined, hold)
    await store.record('task-1', { type: 'spawned', process_id: 7 }, 1, undefined, hold)
    await hold.release()
    await refused('unsafe_path', store.record('task-1', resultEvent(), 1, undefined, hold))
    expect((await store.apply(cancel('task-1', 4))).status).toBe('cancel_requested')
  })

  it('readers wait for no lock', async () => {
    const { store } = await newStore(realDisk, { waitMs: 0 })
    await store.apply(submit('task-1'))
    const hold = await store.lockTask('task-1')
    expect((await store.show('task-1')).revision).toBe(1)
    expect(await store.list()).toHaveLength(1)
    await hold.release()
  })
})

describe('a reservation', () => {
  const root = '/srv/work/demo'
  it.each([root, '/srv/work', '/', `${root}/part`])(
    'refuses workspace_busy for %s beside a run in it, above it or inside it',
    async (workspace) => {
      const { store } = await newStore()
      await runningTask(store, 'task-1', root)
      await store.apply(submit('task-2'))
      await refused(
        'workspace_busy',
        store.record('task-2', admitted(await store.show('task-2'), workspace), 1),
      )
      expect((await store.show('task-2')).status).toBe('queued')
    },
  )

  it.each(['/srv/work/demo-2', '/srv/work/dem', '/srv/other'])('lets %s run beside it', async (workspace) => {
    const { store } = await newStore()
    await runningTask(store, 'task-1', root)
    expect((await runningTask(store, 'task-2', workspace)).status).toBe('running')
  })

  it('lasts while the run is running, being cancelled or unknown, and ends with its result', async () => {
    const { store } = await newStore()
    await runningTask(store, 'task-1')
    await store.apply(submit('task-2'))
    const try2 = async () => store.record('task-2', admitted(await store.show('task-2')), 1)
    await refused('workspace_busy', try2())
    await store.apply(cancel('task-1', 2))
    await refused('workspace_busy', try2())
    await store.record('task-1', { type: 'owner_lost' }, 2)
    await refused('workspace_busy', try2())
    await store.record('task-1', resultEvent({ ending: 'owner_process_ended', exit_code: null }), 2)
    expect((await try2()).status).toBe('running')
  })

  it('of two admissions at once lets exactly one in', async () => {
    const { store, reopen } = await newStore()
    const other = await reopen()
    await store.apply(submit('task-1'))
    await store.apply(submit('task-2'))
    const tries = await Promise.allSettled([
      store.record('task-1', admitted(await store.show('task-1')), 1),
      other.record('task-2', admitted(await store.show('task-2')), 1),
    ])
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('compares whole components', () => {
    expect(overlaps('/a', '/a')).toBe(true)
    expect(overlaps('/a/b', '/a')).toBe(true)
    expect(overlaps('/ab', '/a')).toBe(false)
    expect(overlaps('/', '/a')).toBe(true)
  })

  it('cannot be told beside a task that does not read', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    await writeFile(join(dir, 'task', 'broken.json'), '{}', { mode: 0o600 })
    await refused('corrupt_store', store.record('task-1', admitted(await store.show('task-1')), 1))
  })
})
