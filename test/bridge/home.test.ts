import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { npubEncode } from 'nostr-tools/nip19'
import { beforeEach, describe, expect, it } from 'vitest'
import { initHome, openHome } from '../../src/bridge/home.ts'
import { homePaths } from '../../src/bridge/paths.ts'
import { changeServeSettings, withoutRelay, withoutWorkspace } from '../../src/bridge/serve-settings.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { realDisk } from '../../src/store/disk.ts'
import { keys } from '../support/access.ts'
import { gitWorkspace } from '../support/git-workspace.ts'
import { tempDir } from '../support/temp-dir.ts'

let home: string
let site: string

beforeEach(async () => {
  home = join(await tempDir(), 'home')
  site = (await gitWorkspace()).path
})

const init = (choices: Parameters<typeof initHome>[1] = {}) =>
  initHome({ disk: realDisk, clock: systemClock, random: systemRandom, home }, choices)
const owner = keys.owner

describe('init', () => {
  it('establishes the owner, makes the host key and records relays and workspaces', async () => {
    const summary = await init({
      owner,
      relays: ['wss://relay.example.net/'],
      workspaces: [{ label: 'site', path: site }],
    })
    expect(summary).toEqual({
      host: expect.stringMatching(/^[0-9a-f]{64}$/),
      owner,
      relays: ['wss://relay.example.net/'],
      workspaces: [{ label: 'site', path: site }],
      loopback_test: false,
    })
    const modes = await Promise.all(
      ['.', 'host', 'run', 'tasks', 'host/host.key', 'host/access.json', 'host/serve.json'].map(
        async (name) => (await stat(join(home, name))).mode & 0o777,
      ),
    )
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o700, 0o600, 0o600, 0o600])
  })

  it('again with the same owner, by any name, changes nothing and may add', async () => {
    const first = await init({ owner })
    expect(await init({ owner: npubEncode(owner) })).toEqual(first)
    expect(await init()).toEqual(first)
    const more = await init({ relays: ['wss://relay.example.net/', 'wss://relay.example.net/'] })
    expect(more.relays).toEqual(['wss://relay.example.net/'])
    expect(more.host).toBe(first.host)
  })

  it('creates an owner whose key stays in its file', async () => {
    const made = await init({ createOwner: true })
    expect(await readFile(join(home, 'host', 'owner.key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
    expect(await init({ createOwner: true })).toEqual(made)
  })

  const refused: [string, () => Promise<unknown>, object][] = [
    ['no owner', () => init(), { code: 'configuration', hint: expect.stringContaining('--create-owner') }],
    ['two owners', () => init({ owner, createOwner: true }), { code: 'configuration' }],
    ['a secret key as the owner', () => init({ owner: `nsec1${'q'.repeat(58)}` }), { code: 'configuration' }],
    ['an owner that is no point', () => init({ owner: 'f'.repeat(64) }), { code: 'configuration' }],
    [
      'another owner',
      () => init({ owner }).then(() => init({ owner: keys.phone })),
      { code: 'configuration' },
    ],
    [
      'a created owner in a home of another',
      () => init({ owner }).then(() => init({ createOwner: true })),
      { code: 'configuration' },
    ],
    ['a ws relay', () => init({ owner, relays: ['ws://127.0.0.1:7777'] }), { code: 'forbidden' }],
    [
      'a workspace that is not there',
      () => init({ owner, workspaces: [{ label: 'x', path: join(site, 'none') }] }),
      { code: 'io' },
    ],
    [
      'a workspace around the home',
      () => init({ owner, workspaces: [{ label: 'x', path: join(home, '..') }] }),
      { code: 'unsafe_path' },
    ],
    [
      'a workspace that is no repository',
      async () => init({ owner, workspaces: [{ label: 'x', path: await tempDir() }] }),
      { code: 'io', hint: expect.stringMatching(/^git -C .* commit/) },
    ],
    [
      'a folder that has another label',
      () =>
        init({
          owner,
          workspaces: [
            { label: 'site', path: site },
            { label: 'again', path: site },
          ],
        }),
      { code: 'configuration', hint: 'drawbridge workspace remove site' },
    ],
    [
      'a label that names another folder',
      async () => {
        await init({ owner, workspaces: [{ label: 'site', path: site }] })
        return await init({ workspaces: [{ label: 'site', path: (await gitWorkspace()).path }] })
      },
      { code: 'configuration', hint: 'drawbridge workspace remove site' },
    ],
  ]
  for (const [name, run, refusal] of refused) {
    it(`refuses ${name}`, async () => {
      await expect(run()).rejects.toMatchObject(refusal)
    })
  }

  it('never shows a secret key in what it refuses', async () => {
    const secret = `nsec1${'q'.repeat(58)}`
    await init({ owner: secret }).catch((error: Error) => expect(error.message).not.toContain(secret))
  })

  it('with --loopback-test also takes a relay on this machine', async () => {
    const made = await init({ owner, loopbackTest: true, relays: ['ws://127.0.0.1:7777'] })
    expect(made).toMatchObject({ loopback_test: true, relays: ['ws://127.0.0.1:7777'] })
  })

  it('goes on where a crash left it, before the settings', async () => {
    const first = await init({ owner })
    await rm(join(home, 'host', 'serve.json'))
    expect((await init({ owner })).host).toBe(first.host)
  })
})

describe('a home that was initialised', () => {
  beforeEach(async () => {
    await init({ owner, workspaces: [{ label: 'site', path: site }] })
  })

  it('canonicalises a workspace that is named through a link', async () => {
    const link = join(await tempDir(), 'link')
    const other = (await gitWorkspace()).path
    await symlink(other, link)
    const made = await init({ workspaces: [{ label: 'linked', path: link }] })
    expect(made.workspaces.at(-1)).toEqual({ label: 'linked', path: other })
  })

  it('forgets relays and workspaces that are removed', async () => {
    const paths = homePaths(home)
    await init({ relays: ['wss://relay.example.net/'] })
    await changeServeSettings(realDisk, paths, withoutRelay('wss://relay.example.net/'))
    await changeServeSettings(realDisk, paths, withoutWorkspace('site'))
    expect((await openHome(realDisk, home)).settings).toMatchObject({ relays: [], workspaces: [] })
    const again = changeServeSettings(realDisk, paths, withoutWorkspace('site'))
    await expect(again).rejects.toMatchObject({ code: 'not_found' })
  })

  const lost: [string, () => Promise<unknown>, string][] = [
    ['its host key', () => rm(join(home, 'host', 'host.key')), 'corrupt_store'],
    ['its access book', () => rm(join(home, 'host', 'access.json')), 'corrupt_store'],
    ['its task store', () => rm(join(home, 'tasks'), { recursive: true }), 'corrupt_store'],
    ['sense in its settings', () => writeFile(join(home, 'host', 'serve.json'), '{}'), 'corrupt_store'],
    ['sense in its host key', () => writeFile(join(home, 'host', 'host.key'), 'x\n'), 'corrupt_store'],
    [
      'the schema of its settings',
      () => writeFile(join(home, 'host', 'serve.json'), '{"schema":"drawbridge.serve.v9"}'),
      'unsupported_schema',
    ],
  ]
  for (const [name, lose, code] of lost) {
    it(`that lost ${name} refuses and is not made anew`, async () => {
      await lose()
      await expect(init({ owner })).rejects.toMatchObject({ code })
    })
  }

  const exposed: [string, () => Promise<unknown>][] = [
    ['the home', () => chmod(home, 0o755)],
    ['a directory of it', () => chmod(join(home, 'host'), 0o750)],
    ['the host key', () => chmod(join(home, 'host', 'host.key'), 0o640)],
    ['the settings', () => chmod(join(home, 'host', 'serve.json'), 0o604)],
  ]
  for (const [name, expose] of exposed) {
    it(`refuses when others can reach ${name}, and says what to type`, async () => {
      await expose()
      const refusal = { code: 'unsafe_path', hint: `chmod -R go= '${home}'` }
      await expect(openHome(realDisk, home)).rejects.toMatchObject(refusal)
      await expect(init({ owner })).rejects.toMatchObject(refusal)
    })
  }

  it('tells a home that lost its settings from one that never was', async () => {
    const path = join(home, 'host', 'serve.json')
    await rm(path)
    const refusal = { code: 'configuration', message: expect.stringContaining('host/serve.json is missing') }
    await expect(openHome(realDisk, home)).rejects.toMatchObject(refusal)
    await expect(openHome(realDisk, home)).rejects.toMatchObject({ hint: expect.stringContaining(path) })
  })

  it('settings that were lost while devices are enrolled are not made anew', async () => {
    const path = join(home, 'host', 'access.json')
    const book = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...book, epochs: [{ device: keys.phone, epoch: 1 }] }))
    await rm(join(home, 'host', 'serve.json'))
    await expect(init({ owner })).rejects.toMatchObject({ code: 'corrupt_store' })
  })
})

describe('a home that was never initialised', () => {
  it('says what to type', async () => {
    const hint = 'drawbridge init --create-owner'
    await expect(openHome(realDisk, home)).rejects.toMatchObject({ code: 'configuration', hint })
    await mkdir(home, { mode: 0o700 })
    await expect(openHome(realDisk, home)).rejects.toMatchObject({ code: 'configuration', hint })
  })
})
