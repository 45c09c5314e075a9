import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlace, type Place } from '../support/door.ts'

interface Fixtures {
  keys: Record<'host' | 'owner' | 'phone' | 'tablet', string>
  invitation: { code: string; host: string; id: string; relay: string }
  valid: Record<string, unknown>
  invalid: { name: string; schema: string; body: unknown; code: string }[]
  events: { name: string; event: { pubkey: string } }[]
}

let place: Place
let fixtures: Fixtures

beforeAll(async () => {
  place = await makePlace()
  fixtures = JSON.parse(await readFile(new URL('../fixtures/nip-host.json', import.meta.url), 'utf8'))
})
afterAll(() => place.leave())

describe('the protocol door, for people who write devices', () => {
  it('says that a valid body is valid, and gives its canonical form', async () => {
    const input = JSON.stringify(fixtures.valid['grant'], null, 2)
    const said = await place.ask(['protocol', 'check', '--schema', 'grant'], { input })
    expect(said.ok).toBe(true)
    expect(JSON.parse(said.jcs)).toEqual(fixtures.valid['grant'])
  })

  it('says with code and field why a body is not valid, and exits 1', async () => {
    const bad = fixtures.invalid.find(({ schema }) => schema === 'grant')
    const input = JSON.stringify(bad?.body)
    const ended = await place.run(['protocol', 'check', '--schema', 'grant', '--json'], { input })
    expect(ended.code).toBe(1)
    expect(ended.stdout).toBe('')
    expect(JSON.parse(ended.stderr).error.code).toBe(bad?.code)
  })

  it('takes an invitation apart, and keeps its capability to itself', async () => {
    const { code, host, id, relay } = fixtures.invitation
    const said = await place.ask(['protocol', 'invitation', '-'], { input: `${code}\n` })
    expect(said).toMatchObject({ host, invitation: id, relay })
    expect(Object.keys(said)).not.toContain('capability')
  })

  it('warns when an invitation stands on the command line, and works', async () => {
    const ended = await place.run(['protocol', 'invitation', fixtures.invitation.code, '--json'])
    expect(ended.code).toBe(0)
    expect(ended.stderr.trim().split('\n')).toHaveLength(1)
    expect(ended.stderr).not.toContain(fixtures.invitation.code)
  })

  it('seals a body that the other side opens', async () => {
    await place.ask(['init', '--create-owner'])
    const me = await place.ask(['init'])
    const request = { ...(fixtures.valid['request_queue_edit'] as object), host: fixtures.keys.host }
    const keyFile = join(place.home, 'host/owner.key')
    const sealed = await place.ask(['protocol', 'seal', '--key-file', keyFile, '--peer', me.host], {
      input: JSON.stringify(request),
    })
    const args = ['protocol', 'open', '--key-file', join(place.home, 'host/host.key'), '--peer', me.owner]
    const opened = await place.ask(args, { input: JSON.stringify(sealed) })
    expect(opened.body).toEqual(request)
    expect(opened).toMatchObject({ author: me.owner, recipient: me.host })
    const forged = await place.run(args, {
      input: JSON.stringify({ ...sealed, created_at: sealed.created_at + 1 }),
    })
    expect(forged.code).toBe(1)
  })
})
