import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Refusal } from '../../../src/protocol/refusal.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import type { Disk } from '../../../src/seams/disk.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { refused } from '../../support/refusals.ts'
import { stoppingDisk } from '../../support/stopping-disk.ts'
import { type Loose, legacyDocument, legacyStore, merged, v2 } from './legacy-samples.ts'
import { bytes, correct, newStore, submit } from './samples.ts'

const open = (dir: string, disk: Disk = realDisk) => openTaskStore(disk, systemClock, dir)
const json = async (...path: string[]) => JSON.parse(await readFile(join(...path), 'utf8'))

describe('a document of the second version', () => {
  it('becomes a store: own records and sequence numbers, every receipt kept, the document put aside', async () => {
    const document = await legacyDocument()
    const dir = await legacyStore(document)
    await writeFile(join(dir, '.tasks.pending'), 'half', { mode: 0o600 })
    const store = await open(dir)
    expect(await store.list()).toEqual(Object.values(document.tasks))
    for (const id of Object.keys(document.tasks)) {
      const file = await json(dir, 'task', `${id}.json`)
      expect(file.commands).toEqual(document.commands.filter((each: Loose) => each.receipt.task_id === id))
      const events = document.host_events.filter((each: Loose) => each.task_id === id)
      expect(file.host_events ?? []).toEqual(events)
    }
    for (const { request, receipt } of document.commands) {
      expect(await store.apply(bytes(request))).toEqual(receipt)
    }
    const lines = document.commands.map(({ request, receipt: { command_id, task_id } }: Loose) =>
      JSON.stringify({ command_id, task_id, submit: JSON.parse(request).action.type === 'submit' }),
    )
    expect(await readFile(join(dir, 'identities.log'), 'utf8')).toBe(`${lines.join('\n')}\n`)
    expect(await readFile(join(dir, 'store.json'), 'utf8')).toBe(
      '{"schema":"openagents.coder.task-store.v3","migrated_from":"tasks.v2.json"}',
    )
    expect(await json(dir, 'tasks.v2.json')).toEqual(document)
    expect((await readdir(dir)).filter((name) => /^tasks\.json|pending/.test(name))).toEqual([])
  })

  it('goes on counting after the largest number of each task', async () => {
    const document = await legacyDocument()
    const store = await open(await legacyStore(document))
    const last = document.commands.findLast((each: Loose) => each.receipt.task_id === 'task-3').receipt
    expect((await store.apply(correct('task-3', last.revision))).sequence).toBe(last.sequence + 1)
  })

  it('is kept under the next free name when an earlier one is there', async () => {
    const dir = await legacyStore(await legacyDocument())
    await writeFile(join(dir, 'tasks.v2.json'), 'older', { mode: 0o600 })
    await open(dir)
    expect(await readFile(join(dir, 'tasks.v2.json'), 'utf8')).toBe('older')
    expect(await readdir(dir)).toContain('tasks.v2.1.json')
  })

  it('may hold no tasks, and by many at once is migrated once', async () => {
    const dir = await legacyStore({ schema: v2, sequence: 0, tasks: {}, commands: [] })
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(dir)))
    for (const store of stores) expect(await store.list()).toEqual([])
    expect((await readdir(dir)).filter((name) => name.startsWith('tasks.v2'))).toEqual(['tasks.v2.json'])
  })
})

describe('a document of the first version', () => {
  const schema = 'openagents.coder.task-store.v1'
  it('has no host events, and becomes a store', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    await store.apply(correct('task-1', 1))
    const { host_events: _none, ...document } = merged([await json(dir, 'task', 'task-1.json')])
    const migrated = await open(await legacyStore({ ...document, schema }))
    expect(await migrated.list()).toEqual(await store.list())
  })

  it('with host events refuses corrupt_store', async () => {
    await refused('corrupt_store', open(await legacyStore({ ...(await legacyDocument()), schema })))
  })
})

describe('a document that does not hold together', () => {
  const alterations: [string, (document: Loose) => void][] = [
    ['corrupt_store', (document) => (document.more = 1)],
    ['corrupt_store', (document) => (document.sequence += 1)],
    ['corrupt_store', (document) => (document.tasks['task-2'].status = 'queued')],
    ['corrupt_store', (document) => (document.tasks['task-1'].intent.prompt = 'another')],
    ['corrupt_store', (document) => delete document.tasks['task-3']],
    ['corrupt_store', (document) => (document.tasks['task-4'] = document.tasks['task-3'])],
    ['corrupt_store', (document) => (document.commands[0].receipt.revision = 2)],
    ['corrupt_store', (document) => (document.commands[0].request += '\n')],
    ['corrupt_store', (document) => document.commands.reverse()],
    ['corrupt_store', (document) => document.host_events.pop()],
    ['corrupt_store', (document) => (document.host_events[0].epoch = 2)],
    ['unsupported_schema', (document) => (document.schema = 'openagents.coder.task-store.v9')],
  ]
  it.each(alterations)('refuses %s and touches nothing: %s', async (code, alter) => {
    const document = await legacyDocument()
    alter(document)
    const dir = await legacyStore(document)
    await refused(code as Refusal['code'], open(dir))
    expect((await readdir(dir)).sort()).toEqual(['tasks.json', 'tasks.lock'])
    expect(await json(dir, 'tasks.json')).toEqual(JSON.parse(JSON.stringify(document)))
  })

  it('refuses corrupt_store for a command id that two tasks used', async () => {
    const { store, dir } = await newStore()
    const other = await newStore()
    await store.apply(submit('task-1', 'same'))
    await other.store.apply(submit('task-2', 'same'))
    const files = [await json(dir, 'task', 'task-1.json'), await json(other.dir, 'task', 'task-2.json')]
    await refused('corrupt_store', open(await legacyStore(merged(files))))
  })

  it('refuses corrupt_store beside a task file that it does not know', async () => {
    const dir = await legacyStore(await legacyDocument())
    await mkdir(join(dir, 'task'), { mode: 0o700 })
    await writeFile(join(dir, 'task', 'task-9.json'), '{}', { mode: 0o600 })
    await refused('corrupt_store', open(dir))
    expect((await readdir(dir)).sort()).toEqual(['task', 'tasks.json', 'tasks.lock'])
  })

  it('refuses corrupt_store without the lock file that every store has', async () => {
    const dir = await legacyStore(await legacyDocument())
    await rm(join(dir, 'tasks.lock'))
    await refused('corrupt_store', open(dir))
    expect(await readdir(dir)).toEqual(['tasks.json'])
  })
})

it('a store that is only read is not migrated', async () => {
  const dir = await legacyStore(await legacyDocument())
  await refused('unsupported_schema', openTaskStore(realDisk, systemClock, dir, { readOnly: true }))
  expect((await readdir(dir)).sort()).toEqual(['tasks.json', 'tasks.lock'])
})

it('cut off at any change is finished by the next open, with the same store', async () => {
  const document = await legacyDocument()
  const whole = await open(await legacyStore(document))
  const expected = await whole.list()
  let stopped = 0
  for (const after of [false, true]) {
    for (let count = 1; ; count += 1) {
      const dir = await legacyStore(document)
      const first = await open(
        dir,
        stoppingDisk(count, after, (path) => path.endsWith('tasks.lock')),
      ).then(
        () => 'opened',
        () => 'stopped',
      )
      if (first === 'opened') break
      stopped += 1
      const store = await open(dir)
      expect(await store.list()).toEqual(expected)
      for (const { request, receipt } of document.commands) {
        expect(await store.apply(bytes(request))).toEqual(receipt)
      }
      expect(await json(dir, 'tasks.v2.json')).toEqual(document)
      expect(await readdir(dir)).not.toContain('tasks.json')
    }
  }
  // Before and after each of: the pending file, three temporaries removed, written and renamed, the log, the marker, the backup.
  expect(stopped).toBe(2 * 13)
})

it('refuses corrupt_store, and writes no marker, when a task file does not read back as it was written', async () => {
  const dir = await legacyStore(await legacyDocument())
  const disk: Disk = {
    ...realDisk,
    create: (path, content) => realDisk.create(path, path.endsWith('.tmp') ? content.subarray(1) : content),
  }
  await refused('corrupt_store', open(dir, disk))
  expect((await readdir(dir)).sort()).toEqual(['task', 'tasks.json', 'tasks.lock'])
  expect(await (await open(dir)).list()).toHaveLength(3)
})
