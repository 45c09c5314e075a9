import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../../src/store/disk.ts'
import { refused } from '../../support/refusals.ts'
import { command, correct, goOn, newStore, runThrough, submit } from './samples.ts'

const textOf = (path: string) => readFile(path, 'utf8')

describe('what a crash leaves', () => {
  it('half an identity line is ignored and cut before the next one', async () => {
    const { store, dir, reopen } = await newStore()
    await store.apply(submit('task-1'))
    const whole = await textOf(join(dir, 'identities.log'))
    await appendFile(join(dir, 'identities.log'), '{"command_id":"lost","task_id":"tas')
    const again = await reopen()
    expect(await again.list()).toHaveLength(1)
    await again.apply(submit('task-2', 'lost'))
    expect(await textOf(join(dir, 'identities.log'))).toBe(
      `${whole}{"command_id":"lost","task_id":"task-2","submit":true}\n`,
    )
  })

  it('a reserved id without a task file is taken up by the same task and kept from another', async () => {
    const { store, dir } = await newStore()
    const line = '{"command_id":"cmd","task_id":"task-1","submit":true}\n'
    await appendFile(join(dir, 'identities.log'), line)
    await refused('command_conflict', store.apply(submit('task-2', 'cmd')))
    expect((await store.apply(submit('task-1', 'cmd'))).sequence).toBe(1)
    expect(await textOf(join(dir, 'identities.log'))).toBe(line)
  })

  it('an id reserved by a submit is taken up by no other command of its task', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    await appendFile(
      join(dir, 'identities.log'),
      '{"command_id":"cmd","task_id":"task-1","submit":true}\n{"command_id":"kept","task_id":"task-1","submit":false}\n',
    )
    await refused('command_conflict', store.apply(correct('task-1', 1, 'cmd')))
    expect((await store.apply(correct('task-1', 1, 'kept'))).revision).toBe(2)
    expect(await store.list()).toHaveLength(1)
  })

  it('a log of ids that disappears is missed at the next command, and not made anew', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    await rm(join(dir, 'identities.log'))
    await refused('corrupt_store', store.apply(submit('task-2')))
    expect(await readdir(dir)).not.toContain('identities.log')
    expect(await readdir(join(dir, 'task'))).toEqual(['task-1.json', 'task-1.lock'])
  })

  it('a stale temporary is ignored and replaced', async () => {
    const { store, dir } = await newStore()
    await writeFile(join(dir, 'task', '.task-1.json.tmp'), 'half', { mode: 0o600 })
    await store.apply(submit('task-1'))
    expect(await readdir(join(dir, 'task'))).toEqual(['task-1.json', 'task-1.lock'])
  })

  it.each([
    'nonsense\n',
    '\n',
    '{"command_id":"a","task_id":"b"}\n',
    '{"command_id":"a","task_id":"b","submit":1}\n',
    '{"command_id":"a","task_id":"/b","submit":true}\n',
    '{"command_id":"a","task_id":"b","submit":true,"x":1}\n',
    '{"command_id":"submit-task-1","task_id":"b","submit":true}\n',
  ])('a complete line that no store wrote (%j) refuses corrupt_store and is left alone', async (line) => {
    const { store, dir, reopen } = await newStore()
    await store.apply(submit('task-1'))
    await appendFile(join(dir, 'identities.log'), line)
    const before = await textOf(join(dir, 'identities.log'))
    await refused('corrupt_store', store.apply(submit('task-2')))
    await refused('corrupt_store', (await reopen()).apply(submit('task-2')))
    expect(await textOf(join(dir, 'identities.log'))).toBe(before)
  })
})

describe('capacities', () => {
  const lines = (count: number, submits: boolean) =>
    Array.from(
      { length: count },
      (_, place) => `{"command_id":"c${place}","task_id":"t${submits ? place : 0}","submit":${submits}}\n`,
    ).join('')

  it('1,024 tasks, then limit_exceeded for a new one and not for an old one', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    await appendFile(join(dir, 'identities.log'), lines(1_023, true))
    await refused('limit_exceeded', store.apply(submit('task-2')))
    await store.apply(correct('task-1', 1))
  })

  it('2,048 commands, then limit_exceeded, while old receipts are still given', async () => {
    const { store, dir } = await newStore()
    const receipt = await store.apply(submit('task-1'))
    await appendFile(join(dir, 'identities.log'), lines(2_046, false))
    await store.apply(correct('task-1', 1))
    await refused('limit_exceeded', store.apply(correct('task-1', 2)))
    expect(await store.apply(submit('task-1'))).toEqual(receipt)
  })

  it('of which a tenth is kept for the owner: 921 tasks and 1,843 commands are what devices may use', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'), 'device')
    await appendFile(join(dir, 'identities.log'), lines(919, true))
    await store.apply(submit('task-2'), 'device')
    await refused('limit_exceeded', store.apply(submit('task-3'), 'device'))
    await store.apply(submit('task-3'))
    const more = Array.from(
      { length: 920 },
      (_, place) => `{"command_id":"d${place}","task_id":"t","submit":false}\n`,
    )
    await appendFile(join(dir, 'identities.log'), more.join(''))
    await store.apply(correct('task-1', 1), 'device')
    await refused('limit_exceeded', store.apply(correct('task-1', 2), 'device'))
    await store.apply(correct('task-1', 2))
  })

  it('4 MiB of identities', async () => {
    const { dir, reopen } = await newStore()
    await writeFile(join(dir, 'identities.log'), new Uint8Array(4_194_305))
    await refused('limit_exceeded', reopen())
  })

  it('12 MiB of history: nothing new begins, but a run can end and be corrected', async () => {
    const { store } = await newStore()
    // Quotes grow the most: two bytes each in the task, four in the text of the request.
    const prompt = '"'.repeat(32_000)
    const grow = async (revision: number) =>
      store.apply(command(`c${revision}`, 'task-1', revision, { type: 'correct', prompt, reason: 'r' }))
    await store.apply(submit('task-1'))
    for (let revision = 1; revision < 60; revision += 1) await grow(revision)
    const running = await runThrough(store, 'task-1')
    while ((await sizeOf(store.dir, 'task-1')) <= 12_582_912)
      await grow((await store.show('task-1')).revision)
    expect(running.status).toBe('finished')
    const { revision: last } = await store.show('task-1')
    await refused('limit_exceeded', store.apply(goOn('task-1', last)))
    expect((await store.apply(correct('task-1', last))).revision).toBe(last + 1)
  })
})

async function sizeOf(dir: string, taskId: string): Promise<number> {
  return Number((await realDisk.identity(join(dir, 'task', `${taskId}.json`)))?.size ?? 0n)
}
