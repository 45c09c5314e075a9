import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { controlClient } from '../../src/bridge/control-client.ts'
import { silentLog } from '../../src/bridge/log.ts'
import { startService } from '../../src/bridge/service.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { id, keys } from '../support/access.ts'
import { type BridgeStage, bridgeStage, redeem } from '../support/bridge-stage.ts'
import { outcome, refusal } from '../support/results.ts'
import type { WirePeer } from '../support/wire-peer.ts'

let stage: BridgeStage
let phone: WirePeer

beforeAll(async () => {
  stage = await bridgeStage()
  phone = await stage.device(13)
})
afterAll(() => stage.end())

const terms = () => ({
  rights: ['observe' as const],
  grant_expires_at: nowSeconds(systemClock) + 3_600,
  relay: null,
})
const serviceDeps = () => ({
  disk: realDisk,
  clock: systemClock,
  random: systemRandom,
  dial: dialRelay,
  launcher: { launch: () => Promise.reject(new Error('nothing is launched here')) },
  log: silentLog,
  home: stage.home,
  pid: process.pid,
})

describe('one service a home', () => {
  it('a second one is refused, naming the first', async () => {
    await expect(startService(serviceDeps())).rejects.toMatchObject({
      code: 'already_running',
      message: expect.stringContaining(String(process.pid)),
    })
    outcome(await phone.ask({ kind: 'workspace.list' }), 'workspaces')
  })

  it('says that it is ready in run/ready.json, and takes it back', async () => {
    const path = join(stage.home, 'run', 'ready.json')
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
      schema: 'drawbridge.ready.v1',
      pid: process.pid,
      host: stage.host,
      relays: [{ url: stage.relay.url, state: 'live' }],
    })
    await stage.stop()
    const left = await Promise.all(
      ['ready.json', 'control.sock', 'control.token', 'pid'].map((name) =>
        stat(join(stage.home, 'run', name)).catch(() => null),
      ),
    )
    expect(left).toEqual([null, null, null, null])
    await stage.start()
  })

  it('starts over what a crash left', async () => {
    await stage.stop()
    for (const name of ['ready.json', 'control.sock', 'pid']) {
      await writeFile(join(stage.home, 'run', name), '1\n', { mode: 0o600 })
    }
    await stage.start()
    outcome(await phone.ask({ kind: 'workspace.list' }), 'workspaces')
  })
})

describe('without a service', () => {
  beforeAll(() => stage.stop())
  afterAll(() => stage.start())
  afterEach(() => rm(join(stage.home, 'run', 'control.sock'), { force: true }))

  it('there is no status', async () => {
    await expect(stage.operator.status()).rejects.toMatchObject({ code: 'not_running' })
  })

  it('devices are listed and revoked, which the next service knows', async () => {
    await stage.start()
    const guest = await stage.device(14)
    await stage.stop()
    const active = (await stage.operator.devices()).filter(({ state }) => state === 'active')
    expect(active.map(({ device }) => device).sort()).toEqual(
      [phone.key.publicKey, guest.key.publicKey].sort(),
    )
    expect(await stage.operator.revoke(guest.key.publicKey)).toMatchObject({ epoch: 1 })
    await stage.start()
    expect(refusal(await guest.ask({ kind: 'workspace.list' }))).toBe('revoked')
    await stage.stop()
  })

  it('an invitation is stored, which the next service lets redeem', async () => {
    const { code } = await stage.operator.invite(terms())
    await stage.start()
    const guest = await stage.peer(15)
    expect((await redeem(guest, code)).rights).toEqual(['observe'])
    await stage.stop()
  })

  it('queues are edited as the owner', async () => {
    await stage.start()
    const create = { title: 'Queue', prompt: 'Sort.', workspace: 'site' }
    const created = await phone.ask({ kind: 'task.create', task: create })
    const task = outcome(created, 'dispatched').receipt.reference
    await stage.stop()
    await stage.operator.editQueue(task, { action: 'lease' })
    const view = await stage.operator.editQueue(task, { action: 'list' })
    expect(view.lease?.device).toBe(keys.owner)
    await stage.operator.editQueue(task, { action: 'release' })
  })

  it('a socket that a dead service left is no service', async () => {
    await writeFile(join(stage.home, 'run', 'control.token'), `${id(1)}\n`, { mode: 0o600 })
    expect(await stage.operator.devices()).not.toHaveLength(0)
    await rm(join(stage.home, 'run', 'control.token'))
  })

  it('two commands at once take turns', async () => {
    const both = await Promise.all([stage.operator.invite(terms()), stage.operator.invite(terms())])
    expect(new Set(both.map(({ invitation }) => invitation)).size).toBe(2)
  })

  it('a file that others can read refuses, and says what to type', async () => {
    const path = join(stage.home, 'host', 'access.json')
    await chmod(path, 0o644)
    const unsafe = { code: 'unsafe_path', hint: `chmod -R go= '${stage.home}'` }
    await expect(startService(serviceDeps())).rejects.toMatchObject(unsafe)
    const client = controlClient({
      disk: realDisk,
      clock: systemClock,
      random: systemRandom,
      home: stage.home,
    })
    await expect(client.devices()).rejects.toMatchObject({ code: 'unsafe_path' })
    await chmod(path, 0o600)
  })
})
