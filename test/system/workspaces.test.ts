import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ended, makePlace, type Place } from '../support/door.ts'

let place: Place

beforeEach(async () => {
  place = await makePlace()
})
afterEach(() => place.leave())

describe('a workspace', () => {
  it('is not taken up when it has no commit, nor for a second label, and says what to type', async () => {
    const plain = join(place.base, 'plain')
    await mkdir(plain)
    const made = refusalOf(await place.run(['init', '--create-owner', '--workspace', `a=${plain}`, '--json']))
    expect(made).toEqual({ code: 'io', message: expect.stringContaining(`git -C '${plain}' init`) })
    await expect(stat(place.home)).rejects.toMatchObject({ code: 'ENOENT' })
    await place.ask(['init', '--create-owner', '--workspace', `demo=${place.workspace}`])
    const add = async (words: string) => refusalOf(await place.run(['workspace', 'add', words, '--json']))
    expect(await add(`a=${plain}`)).toEqual(made)
    await execa('git', ['init', '--quiet', plain])
    expect(await add(`a=${plain}`)).toMatchObject({ code: 'io' })
    expect((await add(`again=${place.workspace}`)).code).toBe('configuration')
    expect(await place.ask(['workspace', 'list'])).toMatchObject({ workspaces: [{ label: 'demo' }] })
  })

  it('gets no writing policy as a plain checkout; a reading one it may have', async () => {
    const repository = join(place.base, 'repository')
    await place.ask(['init', '--create-owner', '--workspace', `plain=${repository}`])
    const on = ['autostart', 'on', '--workspace', 'plain', '--program', '/bin/sh', '--json']
    expect(refusalOf(await place.run([...on, '--write']))).toEqual({
      code: 'io',
      message: expect.stringMatching(/a turn that may write needs a linked worktree.*git -C .* worktree add/),
    })
    expect(await place.ask(['autostart', 'show'])).toEqual({ enabled: false })
    expect((await place.run(on)).code).toBe(0)
  })
})

/** The refusal of a command that was to answer in JSON, with nothing on standard output. */
function refusalOf(ended: Ended): { code: string; message: string } {
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  return JSON.parse(ended.stderr).error
}
