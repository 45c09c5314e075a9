import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openArchive } from '../../src/store/archive.ts'
import { realDisk } from '../../src/store/disk.ts'
import { refused } from '../support/refusals.ts'
import { cancel, goOn, newStore, runningTask, runThrough, submit } from './tasks/samples.ts'

const owner = { kind: 'owner' } as const
const device = { kind: 'device', key: 'f'.repeat(64) } as const

async function archiveOfEnded() {
  const { store, dir } = await newStore()
  await store.apply(submit('task-1'))
  await store.apply(cancel('task-1', 1))
  return { store, dir, archive: openArchive(realDisk, dir), path: join(dir, 'archive.json') }
}

describe('the archive', () => {
  it('keeps who put an ended task away, when and why, exactly, and changes nothing else', async () => {
    const { store, dir, archive, path } = await archiveOfEnded()
    expect(await archive.isArchived('task-1')).toBe(false)
    expect(await archive.archive('task-1', 'smoke test', owner, 1_760_000_000)).toBe(true)
    expect(await readFile(path, 'utf8')).toBe(
      '{"schema":"openagents.coder.task-archive.v1","tasks":{"task-1":{"at":1760000000,' +
        '"reason":"smoke test","by":{"kind":"owner"}}}}',
    )
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await archive.isArchived('task-1')).toBe(true)
    expect(await openArchive(realDisk, dir).isArchived('task-1')).toBe(true)
    expect((await store.list()).map((task) => task.task_id)).toEqual(['task-1'])
    expect(await readdir(dir)).not.toContain('.archive.pending')
  })

  it('keeps the first entry of a task, and forgets it when restored', async () => {
    const { archive } = await archiveOfEnded()
    await archive.archive('task-1', 'first', device, 1)
    expect(await archive.archive('task-1', 'second', owner, 2)).toBe(false)
    expect([...(await archive.list())]).toEqual([['task-1', { at: 1, reason: 'first', by: device }]])
    expect(await archive.restore('task-1')).toBe(true)
    expect(await archive.restore('task-1')).toBe(false)
    expect(await archive.restore('unknown')).toBe(false)
    expect((await archive.list()).size).toBe(0)
  })

  it('says that nothing changes only once what it found is durable', async () => {
    const { dir, archive, path } = await archiveOfEnded()
    const synced: string[] = []
    const sync = (file: string) => {
      synced.push(file)
      return realDisk.sync(file)
    }
    const another = openArchive({ ...realDisk, sync }, dir)
    expect(await another.restore('task-1')).toBe(false)
    expect(synced).toEqual([])
    await archive.archive('task-1', 'first', owner, 1)
    expect(await another.archive('task-1', 'second', owner, 2)).toBe(false)
    expect(await another.restore('unknown')).toBe(false)
    expect(synced).toEqual([path, path])
  })

  it('takes finished tasks too, and refuses what has not ended, is unknown or has no good reason', async () => {
    const { store, dir } = await newStore()
    const archive = openArchive(realDisk, dir)
    await store.apply(submit('queued'))
    await runningTask(store, 'running', '/srv/elsewhere')
    await store.apply(submit('finished'))
    await runThrough(store, 'finished')
    expect(await archive.archive('finished', 'done', owner, 1)).toBe(true)
    for (const id of ['queued', 'running'])
      await refused('invalid_transition', archive.archive(id, 'why', owner, 1))
    for (const id of ['none', '../tasks']) await refused('not_found', archive.archive(id, 'why', owner, 1))
    for (const reason of ['', ' ', 'a\nb', 'x'.repeat(513)]) {
      await refused('invalid_command', archive.archive('finished', reason, owner, 1))
    }
    expect([...(await archive.list()).keys()]).toEqual(['finished'])
  })

  it('keeps an entry when its task goes on', async () => {
    const { store, archive } = await archiveOfEnded()
    await archive.archive('task-1', 'why', owner, 1)
    await store.apply(goOn('task-1', 2))
    expect(await archive.archive('task-1', 'again', owner, 2)).toBe(false)
    expect(await archive.isArchived('task-1')).toBe(true)
  })

  it.each([
    ['no JSON', '{'],
    ['another schema', '{"schema":"openagents.coder.task-archive.v2","tasks":{}}'],
    ['an unknown field', '{"schema":"openagents.coder.task-archive.v1","tasks":{},"x":1}'],
    [
      'an entry of another shape',
      '{"schema":"openagents.coder.task-archive.v1","tasks":{"task-1":{"at":1}}}',
    ],
    ['too many bytes', ' '.repeat(1_048_577)],
  ])(
    'that holds %s hides nothing, refuses corrupt_store when written, and is left alone',
    async (_name, text) => {
      const { archive, path } = await archiveOfEnded()
      await writeFile(path, text, { mode: 0o600 })
      expect(await archive.isArchived('task-1')).toBe(false)
      expect((await archive.list()).size).toBe(0)
      await refused('corrupt_store', archive.archive('task-1', 'why', owner, 1))
      await refused('corrupt_store', archive.restore('task-1'))
      expect(await readFile(path, 'utf8')).toBe(text)
    },
  )

  it('holds 1,024 tasks', async () => {
    const { archive, path } = await archiveOfEnded()
    const entries = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, place) => [`t${place}`, { at: 1, reason: 'r', by: owner }]),
      )
    const put = (count: number) =>
      writeFile(path, JSON.stringify({ schema: 'openagents.coder.task-archive.v1', tasks: entries(count) }), {
        mode: 0o600,
      })
    await put(1_024)
    await refused('limit_exceeded', archive.archive('task-1', 'why', owner, 1))
    await put(1_025)
    await refused('corrupt_store', archive.archive('task-1', 'why', owner, 1))
    await put(1_023)
    expect(await archive.archive('task-1', 'why', owner, 1)).toBe(true)
  })

  it('refuses unsafe_path when others could reach it', async () => {
    const { dir, archive, path } = await archiveOfEnded()
    await archive.archive('task-1', 'why', owner, 1)
    await chmod(path, 0o644)
    await refused('unsafe_path', archive.restore('task-1'))
    await chmod(path, 0o600)
    await chmod(dir, 0o755)
    await refused('unsafe_path', archive.restore('task-1'))
  })
})
