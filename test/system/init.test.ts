import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ended, makePlace, type Place } from '../support/door.ts'

let place: Place

beforeEach(async () => {
  place = await makePlace()
})
afterEach(() => place.leave())

describe('a home', () => {
  it.each([
    ['a workspace that is not there', ['--create-owner', '--workspace', 'none=/no/such/place'], 'io'],
    ['a workspace that is a file', ['--create-owner', '--workspace', 'file=/etc/hostname'], 'io'],
    ['a relay outside the policy', ['--create-owner', '--relay', 'ws://relay.example'], 'forbidden'],
    ['an owner that is no key', ['--owner', 'npub1nothing'], 'configuration'],
    ['no owner', [], 'configuration'],
  ])('is not made at all for %s', async (_what, words, code) => {
    expect(refusalOf(await place.run(['init', ...words, '--json'])).code).toBe(code)
    await expect(stat(place.home)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('is none until its settings are there, and is finished by the next init', async () => {
    const { host } = await place.ask(['init', '--create-owner'])
    await rm(join(place.home, 'host/serve.json'))
    expect(refusalOf(await place.run(['serve', '--json'])).code).toBe('configuration')
    const again = await place.ask(['init', '--create-owner', '--workspace', `demo=${place.workspace}`])
    expect(again).toMatchObject({ host, workspaces: [{ label: 'demo', path: place.workspace }] })
  })
})

/** The refusal of a command that was to answer in JSON, with nothing on standard output. */
function refusalOf(ended: Ended): { code: string; message: string } {
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  return JSON.parse(ended.stderr).error
}
