import { chmod, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place } from '../support/door.ts'

let place: Place

beforeEach(async () => {
  place = await makePlace()
  await place.ask(['init', '--create-owner', '--workspace', `demo=${place.workspace}`])
})
afterEach(() => place.leave())

interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  readonly fix: string | null
}

describe('doctor', () => {
  it('finds nothing wrong with a fresh home, and changes nothing in it', async () => {
    const before = await everything()
    const failed = (await checks()).filter(({ ok }) => !ok)
    expect(failed).toEqual([])
    expect(await everything()).toEqual(before)
  })

  it.each([
    ['the access book', 'host/access.json', 'access book'],
    ['the kept answers', 'host/replies.jsonl', 'kept answers'],
    ['the count of starts', 'host/generation.json', 'start count'],
    ['the marker of the task store', 'tasks/store.json', 'task store'],
    ['the host key', 'host/host.key', 'home'],
    ['the task store', 'tasks', 'home'],
    ['the settings', 'host/serve.json', 'home'],
  ])('names %s when it was lost, and what to do', async (_what, path, name) => {
    await rename(join(place.home, path), join(place.base, 'away'))
    const before = await everything()
    const failed = (await checks()).filter(({ ok }) => !ok)
    expect(failed.map((check) => check.name)).toEqual([name])
    expect(failed[0]?.fix).toMatch(/put back|drawbridge init/)
    expect(await everything()).toEqual(before)
  })

  it.each([
    ['host/access.json', 'access book'],
    ['host/replies.jsonl', 'kept answers'],
    ['host/generation.json', 'start count'],
    ['tasks/store.json', 'task store'],
    ['tasks/commands.json', 'command journal'],
    ['host/serve.json', 'home'],
  ])('names %s when it does not read', async (path, name) => {
    await writeFile(join(place.home, path), 'x\n', { mode: 0o600 })
    const failed = (await checks()).filter(({ ok }) => !ok)
    expect(failed.map((check) => [check.name, check.fix !== null])).toEqual([[name, true]])
  })

  it('names a journal that was lost', async () => {
    await writeFile(join(place.home, 'tasks/commands.lock'), '', { mode: 0o600 })
    const failed = (await checks()).filter(({ ok }) => !ok)
    expect(failed.map((check) => check.name)).toEqual(['command journal'])
  })

  it('says what to type when others can read a file of the home', async () => {
    await chmod(join(place.home, 'host/access.json'), 0o644)
    const failed = (await checks()).filter(({ ok }) => !ok)
    expect(failed).toMatchObject([{ name: 'access book', fix: `chmod -R go= '${place.home}'` }])
  })

  it('says that a workspace is gone', async () => {
    await rm(place.workspace, { recursive: true })
    const failed = (await checks()).filter(({ ok }) => !ok)
    expect(failed).toMatchObject([
      {
        name: 'workspace demo',
        detail: expect.stringContaining('is gone'),
        fix: expect.stringContaining("drawbridge workspace remove 'demo'"),
      },
    ])
  })

  it('says that a plain checkout cannot be written, only under a policy that would', async () => {
    await place.ask(['autostart', 'on', '--workspace', 'demo', '--program', '/bin/sh', '--write'])
    await place.ask(['workspace', 'remove', 'demo'])
    await place.ask(['workspace', 'add', `demo=${join(place.base, 'repository')}`])
    expect((await checks()).filter(({ ok }) => !ok)).toMatchObject([
      {
        name: 'workspace demo',
        detail: expect.stringContaining('cannot be written'),
        fix: expect.stringContaining('worktree add'),
      },
    ])
    await place.ask(['autostart', 'off'])
    expect((await checks()).filter(({ ok }) => !ok)).toEqual([])
  })
})

async function checks(): Promise<Check[]> {
  const ended = await place.run(['doctor', '--json'])
  const { ok, checks: found } = JSON.parse(ended.stdout)
  expect(ended.code).toBe(ok ? 0 : 1)
  return found
}

/** Every file of the home with its bytes, its mode and when it was changed. */
async function everything(): Promise<unknown[]> {
  const entries = await readdir(place.home, { recursive: true })
  return Promise.all(
    entries.sort().map(async (name) => {
      const path = join(place.home, name)
      const { mode, mtimeMs, ctimeMs } = await stat(path)
      const bytes = (await stat(path)).isFile() ? await readFile(path, 'latin1') : null
      return [name, mode, mtimeMs, ctimeMs, bytes]
    }),
  )
}
