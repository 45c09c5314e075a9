import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { replayTaskFile } from '../../../src/store/tasks/replay.ts'
import type { TaskStore } from '../../../src/store/tasks/store.ts'
import { refused } from '../../support/refusals.ts'
import { bytes, cancel, correct, goOn, newStore, runningTask, runThrough, submit } from './samples.ts'

let text: string
let store: TaskStore
let path: string

/** A task with every optional part: turns, corrections, follow-ups, a lost owner, a settled run. */
beforeAll(async () => {
  const made = await newStore()
  store = made.store
  path = join(made.dir, 'task', 'task-1.json')
  await store.apply(submit('task-1'))
  await store.apply(correct('task-1', 1))
  await runThrough(store, 'task-1', {
    cost_status: 'priced',
    cost_microusd: 3,
    engine_microusd: 1,
    jev_microusd: 2,
  })
  await store.apply(goOn('task-1', (await store.show('task-1')).revision))
  const { revision } = await runThrough(store, 'task-1', {
    artifact_file: `manifest-${'d'.repeat(64)}.json`,
    artifact_digest: `sha256:${'d'.repeat(64)}`,
  })
  await store.apply(goOn('task-1', revision))
  await store.apply(cancel('task-1', revision + 1))
  await store.apply(goOn('task-1', revision + 2))
  const { intent: _intent, ...queued } = await store.show('task-1')
  expect(queued.status).toBe('queued')
  const again = await runThrough(store, 'task-1', { group_clear: false })
  expect(again.status).toBe('unknown')
  await store.apply(correct('task-1', again.revision))
  text = await readFile(path, 'utf8')
})

describe('a task file', () => {
  it('replays to the task that is shown', async () => {
    expect(replayTaskFile(bytes(text), 'task-1').task).toEqual(await store.show('task-1'))
  })

  it('that does not validate is left alone, fails every call that needs it, and works again when restored', async () => {
    const broken = text.replace('"revision":2', '"revision":3')
    expect(broken).not.toBe(text)
    await store.apply(submit('task-2'))
    await writeFile(path, broken)
    await refused('corrupt_store', store.show('task-1'))
    await refused('corrupt_store', store.list())
    await refused('corrupt_store', store.apply(correct('task-1', 1)))
    await refused('corrupt_store', store.record('task-1', { type: 'owner_lost' }, 2))
    expect((await store.show('task-2')).status).toBe('queued')
    expect(await readFile(path, 'utf8')).toBe(broken)
    await writeFile(path, text)
    expect(await store.list()).toHaveLength(2)
  })

  it('may be written in another order and with white space', () => {
    const value: Record<string, unknown> = JSON.parse(text)
    const shuffled = JSON.stringify(Object.fromEntries(Object.entries(value).reverse()), null, 2)
    expect(replayTaskFile(bytes(shuffled), 'task-1')).toMatchObject({
      sequence: replayTaskFile(bytes(text), 'task-1').sequence,
    })
  })

  it.each([
    ['nothing', ''],
    ['half of itself', () => text.slice(0, text.length / 2)],
    ['something after it', () => `${text}{}`],
    ['a key twice', () => text.replace('{', '{"schema":"openagents.coder.task-file.v1",')],
    ['an integer as a fraction', () => text.replace('"revision":', '"revision":1.0e0,"x":')],
    ['an empty list of events', () => JSON.stringify({ ...JSON.parse(text), host_events: [] })],
  ])('refuses corrupt_store for %s', async (_name, broken) => {
    const other = typeof broken === 'string' ? broken : broken()
    await refused('corrupt_store', () => replayTaskFile(bytes(other), 'task-1'))
  })

  it('refuses corrupt_store under the name of another task', async () => {
    await refused('corrupt_store', () => replayTaskFile(bytes(text), 'task-2'))
  })

  it('refuses limit_exceeded for too many records', async () => {
    const value = JSON.parse(text)
    const commands = Array.from({ length: 2_049 }, () => value.commands[0])
    await refused('limit_exceeded', () => replayTaskFile(bytes({ ...value, commands }), 'task-1'))
    const host_events = Array.from({ length: 8_193 }, () => ({
      sequence: 2,
      task_id: 'task-1',
      epoch: 1,
      event: { type: 'owner_lost' },
    }))
    await refused('limit_exceeded', () => replayTaskFile(bytes({ ...value, host_events }), 'task-1'))
  })

  it('larger than 16 MiB refuses limit_exceeded', async () => {
    const { store: other, dir } = await newStore()
    await writeFile(join(dir, 'task', 'big.json'), new Uint8Array(16_777_217), { mode: 0o600 })
    await refused('limit_exceeded', other.show('big'))
  })

  it('keeps gaps between sequences', async () => {
    const { store: other, dir, reopen } = await newStore()
    await runningTask(other, 'task-1')
    const file = join(dir, 'task', 'task-1.json')
    await writeFile(file, (await readFile(file, 'utf8')).replace('"sequence":2', '"sequence":40'))
    const again = await reopen()
    expect((await again.apply(cancel('task-1', 2))).sequence).toBe(41)
  })
})
