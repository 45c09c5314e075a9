import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256Digest } from '../../../src/protocol/digest.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { refused } from '../../support/refusals.ts'
import { cancel, correct, goOn, newStore, submit, words } from './samples.ts'

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
