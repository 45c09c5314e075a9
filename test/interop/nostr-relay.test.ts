import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDevice } from '../../src/device/client.ts'
import type { Device } from '../../src/device/device.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { randomId, systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import { testKey } from '../support/keys.ts'
import { type ForeignRelay, nostrRelay } from '../support/nostr-relay.ts'
import { type RawClient, rawClient } from '../support/raw-relay-client.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { forged, impostor } from './third-party.ts'

const stranger = testKey(99)
const intent = { title: 'Greet', prompt: 'Say hello.', workspace: 'site' }

let foreign: ForeignRelay
let stage: BridgeStage
const ends: (() => void)[] = []

beforeEach(async () => {
  foreign = await nostrRelay()
  stage = await bridgeStage(() => [foreign.url])
})

afterEach(async () => {
  for (const end of ends.splice(0)) end()
  await stage.end()
  await foreign.close()
})

/** Takes another relay in place of the usual one. */
async function restart(options: Parameters<typeof nostrRelay>[0]): Promise<void> {
  await stage.end()
  await foreign.close()
  foreign = await nostrRelay(options)
  stage = await bridgeStage(() => [foreign.url])
}

/** Our own device client, paired over the relay. */
async function pairedDevice(): Promise<Device> {
  const device = await openDevice({
    disk: realDisk,
    clock: systemClock,
    random: systemRandom,
    dial: dialRelay,
    dir: join(await tempDir(), 'device'),
    policy: 'loopback_test',
    waitMs: 10_000,
  })
  ends.push(() => device.close())
  await device.redeem(await stage.invite())
  return device
}

/** Somebody else who asks this relay for everything there is, and gets it. */
async function onlooker(): Promise<RawClient> {
  const client = await rawClient(foreign.url)
  ends.push(() => client.close())
  await client.authenticate(stranger)
  await client.query('all', { kinds: [3188] })
  return client
}

const seenBy = (client: RawClient): NostrEvent[] =>
  client.frames.filter(([type]) => type === 'EVENT').map((frame) => frame[2] as NostrEvent)

describe('our host and device over @nostr-relay', () => {
  it('pair, create, command, read and list', async () => {
    const device = await pairedDevice()
    expect(await device.workspaces()).toEqual(['site'])
    const created = await device.create(intent)
    expect(created).toMatchObject({ state: 'accepted' })
    const { task } = created
    expect(await device.command({ task, action: 'queue', text: 'And goodbye.' })).toMatchObject({
      state: 'accepted',
    })
    expect((await device.queue(task, { action: 'list' })).items).toMatchObject([{ text: 'And goodbye.' }])
    expect(await device.read(task)).toMatchObject({ task, title: 'Greet', status: 'queued' })
    expect((await device.tasks('site')).items).toHaveLength(1)
  })

  it('keep their secrets from a third party that the relay shows everything', async () => {
    const watching = await onlooker()
    const device = await pairedDevice()
    await device.create(intent)
    await until(() => seenBy(watching).length >= 4)
    const shown = JSON.stringify(seenBy(watching))
    expect(shown).not.toMatch(/Greet|hello|site|task\.create|granted/)
  })

  it('are moved by nothing that a third party makes of what it saw', async () => {
    const watching = await onlooker()
    const device = await pairedDevice()
    const { device: phone } = await device.whoami()
    await device.create(intent)
    await until(() => seenBy(watching).length >= 4)
    const answered = await stage.counted('answered')
    for (const event of seenBy(watching)) {
      await watching.publish(event)
      // The same sealed bytes under another name, to either of the two.
      for (const to of [stage.host, phone]) {
        const tags = event.tags.map((tag) => (tag[0] === 'p' ? ['p', to] : tag))
        const { kind, content } = event
        await watching.publish(
          stranger.signer.sign({ kind, created_at: nowSeconds(systemClock), tags, content }),
        )
      }
    }
    expect((await device.tasks('site')).items).toHaveLength(1)
    expect(await stage.counted('answered')).toBe(answered + 1)
  })

  it('take no answer of a third party for the host’s, though it knows all that a relay knows', async () => {
    await restart({ ignoresAuthors: true })
    const device = await pairedDevice()
    const { device: phone } = await device.whoami()
    const forgeries = impostor({ relay: foreign.url, host: stage.host, device: phone, key: stranger })
    ends.push(forgeries.close)
    for (let time = 0; time < 10; time += 1) expect(await device.workspaces()).toEqual(['site'])
    await until(() => forgeries.accepted() >= 10)
    expect(await device.create(intent)).toMatchObject({ state: 'accepted' })
  })

  it('sort out what is for others, which the relay hands to everybody', async () => {
    const devices = await Promise.all([pairedDevice(), pairedDevice(), pairedDevice()])
    const made = await Promise.all(
      devices.map((device, number) => device.create({ ...intent, title: `Task ${number}` })),
    )
    const read = await Promise.all(
      devices.flatMap((device, number) => [0, 1, 2].map(() => device.read(made[number]?.task ?? ''))),
    )
    expect(read.map(({ title }) => title)).toEqual(
      [0, 0, 0, 1, 1, 1, 2, 2, 2].map((number) => `Task ${number}`),
    )
    expect(await stage.counted('not_for_us')).toBeGreaterThan(0)
  })

  it('act once on what the relay keeps and shows again, and never on what is over', async () => {
    const peer = await stage.device(13)
    const { event, request } = peer.sign({ kind: 'task.create', task: intent })
    peer.send(event)
    await peer.replyTo(request)
    const now = nowSeconds(systemClock)
    const old = peer.sign({ kind: 'task.create', task: intent }, { issued_at: now - 50, expires_at: now - 1 })
    peer.send(old.event)
    await stage.untilCounted('outside_window')
    await stage.stop()
    expect(foreign.kept.has(event.id) && foreign.kept.has(old.event.id)).toBe(true)
    await stage.start()
    await stage.untilCounted('history')
    await stage.untilCounted('outside_window')
    const query = { workspace: 'site', cursor: null, limit: 32 }
    const list = await peer.ask({ kind: 'task.list', query })
    expect(list).toMatchObject({ status: 'ok', outcome: { tasks: { items: [{ title: 'Greet' }] } } })
    expect([peer.heard(request), peer.heard(old.request)]).toEqual([1, 0])
  })

  it('get the genuine event through after a forgery of it', async () => {
    const peer = await stage.device(13)
    const watching = await onlooker()
    const { event, request } = peer.sign({ kind: 'workspace.list' })
    expect(await watching.publish(forged(event))).toMatchObject(['OK', event.id, false, expect.anything()])
    peer.send(event)
    expect(peer.open(await peer.replyTo(request)).result).toMatchObject({ status: 'ok' })
  })
})

describe('@nostr-relay with its caches on', () => {
  it('lets a forgery stand in the way of the genuine event; the command signed anew gets through, once', async () => {
    await restart({ caches: true })
    const peer = await stage.device(13)
    const created = await peer.ask({ kind: 'task.create', task: intent })
    if (created.status !== 'ok' || created.outcome.kind !== 'dispatched') throw new Error('not created')
    const task = created.outcome.receipt.reference
    const command = {
      command: randomId(systemRandom),
      task,
      action: 'queue',
      based_on: 1,
      text: 'And goodbye.',
      emulate: false,
      issued_at: nowSeconds(systemClock),
    } as const

    const sender = await rawClient(foreign.url)
    ends.push(() => sender.close())
    const blocked = peer.sign({ kind: 'task.command', command })
    await sender.publish(forged(blocked.event))
    expect(await sender.publish(blocked.event)).toMatchObject([
      'OK',
      blocked.event.id,
      false,
      expect.anything(),
    ])

    for (let time = 0; time < 2; time += 1)
      expect(await peer.ask({ kind: 'task.command', command })).toMatchObject({ status: 'ok' })
    const queue = await peer.ask({ kind: 'task.queue', task, edit: { action: 'list' } })
    expect(queue).toMatchObject({ outcome: { queue: { items: [{ command: command.command }] } } })
    expect(peer.heard(blocked.request)).toBe(0)
  })
})
