import { readFile, stat } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { homePaths } from '../../src/bridge/paths.ts'
import { changeServeSettings, withRelays } from '../../src/bridge/serve-settings.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { id, keys } from '../support/access.ts'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import { outcome } from '../support/results.ts'
import type { WirePeer } from '../support/wire-peer.ts'

let stage: BridgeStage
let phone: WirePeer

beforeAll(async () => {
  stage = await bridgeStage()
  phone = await stage.device(13)
})
afterAll(() => stage.end())

const socketPath = () => join(stage.home, 'run', 'control.sock')
const token = async () => (await readFile(join(stage.home, 'run', 'control.token'), 'utf8')).trim()
const terms = () => ({
  rights: ['observe' as const],
  grant_expires_at: nowSeconds(systemClock) + 3_600,
  relay: null,
})
/** Sends raw bytes and gives everything that came back; null when the connection was just cut. */
function say(bytes: string | Uint8Array): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath())
    const chunks: Buffer[] = []
    socket.on('error', () => {})
    socket.on('connect', () => socket.write(bytes))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('close', () => resolve(chunks.length === 0 ? null : Buffer.concat(chunks).toString()))
  })
}

describe('the control socket', () => {
  it('and its token can be reached by their owner only', async () => {
    const modes = await Promise.all(
      ['run', 'run/control.sock', 'run/control.token'].map(async (name) =>
        ((await stat(join(stage.home, name))).mode & 0o777).toString(8),
      ),
    )
    expect(modes).toEqual(['700', '600', '600'])
  })

  it('answers one line with one line', async () => {
    const line = { schema: 'drawbridge.control.v1', token: await token(), op: 'devices' }
    const answer = await say(`${JSON.stringify(line)}\n`)
    expect(answer?.endsWith('\n')).toBe(true)
    expect(JSON.parse(answer ?? '')).toMatchObject({ ok: true, devices: [{ device: phone.key.publicKey }] })
  })

  const refused: [string, () => Promise<string>, string][] = [
    ['a wrong token', async () => line({ token: id(1) }), 'forbidden'],
    [
      'another schema',
      async () => line({ token: await token(), schema: 'drawbridge.control.v2' }),
      'malformed',
    ],
    ['an unknown operation', async () => line({ token: await token(), op: 'explode' }), 'malformed'],
    ['an unknown field', async () => line({ token: await token(), more: 1 }), 'malformed'],
    ['what is no JSON', async () => 'hello', 'malformed'],
    [
      'a refused operation',
      async () => line({ token: await token(), op: 'revoke', device: keys.stranger }),
      'forbidden',
    ],
  ]
  for (const [name, make, code] of refused) {
    it(`refuses ${name} with a code`, async () => {
      const answer = await say(`${await make()}\n`)
      expect(JSON.parse(answer ?? '').error.code).toBe(code)
    })
  }

  it('cuts a line of more than a mebibyte and goes on', async () => {
    expect(await say('x'.repeat(1_200_000))).toBe(null)
    expect((await stage.operator.status()).ready).toBe(true)
  })

  it('shows how the service stands', async () => {
    const status = await stage.operator.status()
    expect(status).toMatchObject({
      pid: process.pid,
      host: stage.host,
      owner: keys.owner,
      ready: true,
      relays: [{ url: stage.relay.url, state: 'live' }],
      devices: { active: 1, known: 1 },
      workspaces: ['site'],
      faults: [],
    })
  })

  it('takes up a relay that was added, and drops it again', async () => {
    const paths = homePaths(stage.home)
    const second = 'ws://127.0.0.1:9'
    await changeServeSettings(realDisk, paths, withRelays([second]))
    expect((await stage.operator.reload()).relays).toEqual([stage.relay.url, second])
    expect((await stage.operator.status()).relays.map(({ url }) => url)).toEqual([stage.relay.url, second])
    await changeServeSettings(realDisk, paths, (settings) => ({ ...settings, relays: [stage.relay.url] }))
    await stage.operator.reload()
    expect((await stage.operator.status()).relays).toHaveLength(1)
    outcome(await phone.ask({ kind: 'workspace.list' }), 'workspaces')
  })

  it('refuses an invitation to a relay that is not served', async () => {
    const asked = stage.operator.invite({ ...terms(), relay: 'wss://elsewhere.example.net/' })
    await expect(asked).rejects.toMatchObject({ code: 'configuration', hint: 'drawbridge relay list' })
  })

  it('gives the journal in pages', async () => {
    const task = { title: 'Pages', prompt: 'Sort.', workspace: 'site' }
    const created = outcome(await phone.ask({ kind: 'task.create', task }), 'dispatched').receipt.reference
    for (let index = 0; index < 40; index += 1) {
      const command = {
        command: index.toString(16).padStart(64, '0'),
        task: created,
        action: 'queue' as const,
        based_on: 1,
        text: 'x'.repeat(16_000),
        emulate: false,
        issued_at: nowSeconds(systemClock),
      }
      outcome(await phone.ask({ kind: 'task.command', command }), 'dispatched')
    }
    const first = await stage.operator.commands({ task: created, from: 0 })
    expect([first.entries.length < 40, first.next]).toEqual([true, first.entries.length])
    const rest = await stage.operator.commands({ task: created, from: first.next ?? 0 })
    expect([first.entries.length + rest.entries.length, rest.next]).toEqual([40, null])
  })
})

function line(changes: object): string {
  return JSON.stringify({ schema: 'drawbridge.control.v1', op: 'status', ...changes })
}
