import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256Digest } from '../../../src/protocol/digest.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { refused } from '../../support/refusals.ts'
import { cancel, command, correct, goOn, intent, newStore, runThrough, submit, words } from './samples.ts'

const textOf = (path: string) => readFile(path, 'utf8')

describe('applying a command', () => {
  it('answers with a receipt and writes the task file and the identity line exactly', async () => {
    const { store, dir } = await newStore()
    const request = submit('task-1', 'cmd-1')
    const receipt = await store.apply(request)
    const expected =
      '{"schema":"openagents.coder.task-receipt.v1","command_id":"cmd-1","task_id":"task-1",' +
      `"request_digest":"${sha256Digest(request)}","sequence":1,"revision":1,"status":"queued",` +
      '"execution":"not_started","checks":"not_run"}'
    expect(JSON.stringify(receipt)).toBe(expected)
    expect(await textOf(join(dir, 'task', 'task-1.json'))).toBe(
      `{"schema":"openagents.coder.task-file.v1","task":${JSON.stringify(await store.show('task-1'))},` +
        `"commands":[{"request":${JSON.stringify(new TextDecoder().decode(request))},"receipt":${expected}}]}`,
    )
    expect(await textOf(join(dir, 'identities.log'))).toBe(
      '{"command_id":"cmd-1","task_id":"task-1","submit":true}\n',
    )
    expect((await readdir(join(dir, 'task'))).sort()).toEqual(['task-1.json', 'task-1.lock'])
  })

  it('keeps the exact text of the request, white space and escapes included', async () => {
    const { store, dir, reopen } = await newStore()
    const text = `${new TextDecoder().decode(submit('task-1')).replace('Tidy', '\\u0054idy')} \n`
    const receipt = await store.apply(new TextEncoder().encode(text))
    expect(receipt.request_digest).toBe(sha256Digest(text))
    const stored = JSON.parse(await textOf(join(dir, 'task', 'task-1.json')))
    expect(stored.commands[0].request).toBe(text)
    expect((await (await reopen()).show('task-1')).intent.title).toBe('Tidy the changelog')
  })

  it('numbers the records of a task, revisions and sequences alike', async () => {
    const { store } = await newStore()
    await store.apply(submit('task-1'))
    const second = await store.apply(correct('task-1', 1))
    expect([second.sequence, ...words(second)]).toEqual([2, 2, 'queued', 'not_started', 'not_run'])
    const third = await store.apply(cancel('task-1', 2))
    expect([third.sequence, ...words(third)]).toEqual([3, 3, 'cancelled', 'not_started', 'not_run'])
    expect((await store.apply(submit('task-2'))).sequence).toBe(1)
  })

  it('appends one identity line per command and rewrites only its task', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('a'))
    await store.apply(submit('b'))
    const other = await realDisk.identity(join(dir, 'task', 'b.json'))
    await store.apply(correct('a', 1, 'c'))
    expect(await realDisk.identity(join(dir, 'task', 'b.json'))).toEqual(other)
    expect((await textOf(join(dir, 'identities.log'))).split('\n')[2]).toBe(
      '{"command_id":"c","task_id":"a","submit":false}',
    )
  })

  it('refuses what the page says, and a refusal reserves nothing and writes nothing', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    const before = [await textOf(join(dir, 'identities.log')), await textOf(join(dir, 'task', 'task-1.json'))]
    await refused('invalid_command', store.apply(new TextEncoder().encode('{}')))
    await refused('limit_exceeded', store.apply(new Uint8Array(65_537)))
    await refused('revision_mismatch', store.apply(cancel('task-1', 2)))
    await refused('invalid_transition', store.apply(goOn('task-1', 1)))
    await refused('invalid_transition', store.apply(submit('task-1', 'again')))
    await refused('not_found', store.apply(cancel('task-2', 1)))
    const after = [await textOf(join(dir, 'identities.log')), await textOf(join(dir, 'task', 'task-1.json'))]
    expect(after).toEqual(before)
    expect(await readdir(join(dir, 'task'))).toEqual(['task-1.json', 'task-1.lock'])
  })
})

describe('the same command again', () => {
  it('gives the first receipt for the exact bytes, however the task moved on, also after reopening', async () => {
    const { store, reopen, dir } = await newStore()
    const first = await store.apply(submit('task-1'))
    await store.apply(cancel('task-1', 1))
    await store.apply(goOn('task-1', 2))
    const before = await textOf(join(dir, 'task', 'task-1.json'))
    expect(await store.apply(submit('task-1'))).toEqual(first)
    expect(await (await reopen()).apply(submit('task-1'))).toEqual(first)
    expect(await textOf(join(dir, 'task', 'task-1.json'))).toBe(before)
    expect(await store.receiptFor(submit('task-1'))).toEqual(first)
  })

  it('refuses command_conflict for other bytes under its id: one newline, another action, another task', async () => {
    const { store } = await newStore()
    await store.apply(submit('task-1', 'cmd'))
    const withNewline = new TextEncoder().encode(`${new TextDecoder().decode(submit('task-1', 'cmd'))}\n`)
    for (const other of [
      withNewline,
      cancel('task-1', 1, 'cmd'),
      submit('task-2', 'cmd'),
      cancel('task-2', 1, 'cmd'),
    ]) {
      await refused('command_conflict', store.apply(other))
      expect(await store.receiptFor(other)).toBeNull()
    }
    expect(await store.list()).toHaveLength(1)
  })

  it('is known before the revision and the state are looked at', async () => {
    const { store } = await newStore()
    await store.apply(submit('task-1'))
    const receipt = await store.apply(cancel('task-1', 1))
    expect(await store.apply(cancel('task-1', 1))).toEqual(receipt)
  })

  it('syncs the file before the receipt is given again, and gives the failure instead of it', async () => {
    let failing = false
    const synced: string[] = []
    const disk = {
      ...realDisk,
      sync: async (path: string) => {
        synced.push(path)
        if (failing) throw new Error('EIO')
        await realDisk.sync(path)
      },
    }
    const { store, dir } = await newStore(disk)
    const receipt = await store.apply(submit('task-1'))
    expect(synced).toEqual([])
    expect(await store.apply(submit('task-1'))).toEqual(receipt)
    expect(synced).toEqual([join(dir, 'task', 'task-1.json')])
    failing = true
    await expect(store.apply(submit('task-1'))).rejects.toThrow('EIO')
  })
})

describe('reading tasks', () => {
  it('lists by the bytes of the id and ignores what is no task file', async () => {
    const { store, dir } = await newStore()
    for (const id of ['b', 'a-b', 'a', 'B', 'a.b', '10', '9']) await store.apply(submit(id))
    await writeFile(join(dir, 'task', '.a.json.tmp'), 'half', { mode: 0o600 })
    await writeFile(join(dir, 'task', '-x.json'), 'no identifier', { mode: 0o600 })
    await mkdir(join(dir, 'task', 'folder'))
    expect((await store.list()).map((task) => task.task_id)).toEqual(['10', '9', 'B', 'a', 'a-b', 'a.b', 'b'])
  })

  it('refuses not_found for what is no task, and never takes a name for a path', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    for (const id of ['task-2', '../store', '', 'task/task-1', '.', `${dir}/task/task-1`]) {
      await refused('not_found', store.show(id))
      await refused('not_found', store.lockTask(id))
      expect(await store.submitRequest(id)).toBeNull()
    }
    await refused('not_found', () => store.ownerLockPath('../x'))
  })

  it('gives the command that created a task', async () => {
    const { store, reopen } = await newStore()
    await store.apply(submit('task-1', 'first'))
    await store.apply(correct('task-1', 1))
    for (const opened of [store, await reopen()]) {
      expect(await opened.submitRequest('task-1')).toMatchObject({
        command_id: 'first',
        action: { type: 'submit', intent },
      })
    }
  })

  it('sees what another handle wrote', async () => {
    const { store, reopen } = await newStore()
    const other = await reopen()
    await store.apply(submit('task-1'))
    expect((await other.show('task-1')).revision).toBe(1)
    await other.apply(correct('task-1', 1))
    expect((await store.show('task-1')).revision).toBe(2)
    await store.apply(correct('task-1', 2))
    expect((await other.list()).map((task) => task.revision)).toEqual([3])
  })
})

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
