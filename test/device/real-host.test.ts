import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Entry } from '../../src/commands/journal-entry.ts'
import { openDevice } from '../../src/device/client.ts'
import type { Device } from '../../src/device/device.ts'
import { switchOn } from '../../src/host/autostart/change-policy.ts'
import type { Launcher } from '../../src/host/supervise/launch-owner.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import type { DialRelay } from '../../src/seams/relay-socket.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore } from '../../src/store/tasks/store.ts'
import { type BridgeStage, bridgeStage } from '../support/bridge-stage.ts'
import { movableClock } from '../support/movable-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const clock = movableClock()
let stage: BridgeStage
let launches: number
let devices: Device[]
/** What a device may not hear: cut, and nothing of it. */
let deaf: boolean

beforeEach(async () => {
  clock.reset()
  launches = 0
  devices = []
  deaf = false
  const launcher: Launcher = {
    async launch() {
      launches += 1
      return { pid: process.pid, exited: new Promise(() => {}) }
    },
  }
  stage = await bridgeStage(undefined, { clock, launcher })
})
afterEach(async () => {
  for (const device of devices) device.close()
  await stage.end()
})

/** A deaf device hears nothing of the host; its connection ends when there is something after it said something. */
const cuttingDial: DialRelay = (url, events) => {
  let said = false
  const socket = dialRelay(url, {
    ...events,
    message(text) {
      if (!deaf || !text.startsWith('["EVENT"')) events.message(text)
      else if (said) socket.close()
    },
  })
  return {
    ...socket,
    send(text) {
      said ||= text.startsWith('["EVENT"')
      socket.send(text)
    },
  }
}

async function openPaired(waitMs = 5_000, code?: string): Promise<Device> {
  const dir = await mkdtemp(join(await tempDir(), 'device-'))
  const device = await openDevice({
    disk: realDisk,
    clock,
    random: systemRandom,
    dial: cuttingDial,
    dir,
    policy: 'loopback_test',
    waitMs,
  })
  devices.push(device)
  await device.redeem(code ?? (await stage.invite()))
  return device
}

async function journal(): Promise<readonly Entry[]> {
  return (await stage.operator.commands({ task: null, from: 0 })).entries
}

async function taskIds(): Promise<string[]> {
  const store = await openTaskStore(realDisk, systemClock, `${stage.home}/tasks`, { readOnly: true })
  const tasks = await store.list()
  await store.close()
  return tasks.map((task) => task.task_id)
}

describe('a device and a real host', () => {
  it('D1: the socket is cut after the host recorded and before its answer, five times: one entry, one engine start', async () => {
    const { workspaces } = JSON.parse(
      Buffer.from((await realDisk.read(`${stage.home}/host/serve.json`, 65_536)) ?? []).toString(),
    )
    await switchOn(
      { disk: realDisk, clock, home: stage.home, workspaces },
      {
        workspaces: ['site'],
        max_running: 1,
        program: '/bin/true',
        arguments: [],
        write_workspace: false,
        wall_seconds: 60,
        stream_bytes: 65_536,
        memory_bytes: 268_435_456,
      },
    )
    const device = await openPaired(1_000)
    deaf = true
    const created = await device.create({ title: 'Once', prompt: 'Go.', workspace: 'site' })
    expect(created.state).toBe('unknown')
    for (let retry = 0; retry < 5; retry += 1) await device.flush()
    await until(() => launches > 0)
    expect(await taskIds()).toEqual([created.task])
    deaf = false
    expect(await device.flush()).toMatchObject([{ id: created.id, state: 'accepted' }])

    deaf = true
    const queued = await device.command({ task: created.task, action: 'queue', text: 'And then.' })
    for (let retry = 0; retry < 5; retry += 1) {
      // Each time as a new request, since the old one has had its time.
      clock.advance(61_000)
      expect((await device.flush()).at(-1)).toMatchObject({ id: queued.id, state: 'unknown' })
    }
    deaf = false
    clock.advance(61_000)
    expect((await device.flush()).at(-1)).toMatchObject({ id: queued.id, state: 'accepted' })
    expect((await journal()).map(({ request }) => request.command)).toEqual([queued.id])
    expect(launches).toBe(1)
  }, 60_000)

  it('D2: a create that is replayed across restarts of the host, also signed again, makes one task', async () => {
    const device = await openPaired(1_000)
    deaf = true
    const created = await device.create({ title: 'Once', prompt: 'Go.', workspace: 'site' })
    await until(async () => (await taskIds()).length === 1)
    await stage.stop()
    await stage.start()
    expect(await device.flush()).toMatchObject([{ state: 'unknown' }])
    await stage.stop()
    clock.advance(122_000)
    await stage.start()
    deaf = false
    expect(await device.flush()).toMatchObject([{ id: created.id, state: 'accepted' }])
    expect(await taskIds()).toEqual([created.task])
  }, 60_000)

  it('D11: fifty commands that waited and ten of another device meanwhile keep the order of each device', async () => {
    const away = await openPaired(1_000)
    const here = await openPaired()
    const created = await here.create({ title: 'Order', prompt: 'Go.', workspace: 'site' })
    await stage.stop()
    const live: string[] = []
    for (let index = 0; index < 50; index += 1) {
      const stop = new AbortController()
      const sending = away.command(
        { task: created.task, action: 'queue', text: `away ${index}`, based_on: 1 },
        stop.signal,
      )
      await until(async () => (await away.outbox()).length === index + 1)
      stop.abort()
      await sending.catch(() => undefined)
    }
    const waiting = (await away.outbox()).map(({ id }) => id)
    await stage.start()
    const flushing = until(async () => {
      const sends = await away.flush()
      return sends.every(({ state }) => state === 'accepted')
    }, 60_000)
    for (let index = 0; index < 10; index += 1) {
      const sent = await here.command({ task: created.task, action: 'queue', text: `here ${index}` })
      expect(sent.state).toBe('accepted')
      live.push(sent.id)
    }
    await flushing
    const entries = await journal()
    const of = async (device: Device) => {
      const { device: key } = await device.whoami()
      return entries.filter(({ sender }) => sender.device === key).map(({ request }) => request.command)
    }
    expect(await of(away)).toEqual(waiting)
    expect(await of(here)).toEqual(live)
    expect(entries).toHaveLength(60)
  }, 120_000)

  it('a grant is renewed while its device talks, and the device goes on under the new one past the end of the first', async () => {
    const grant_expires_at = nowSeconds(clock) + 400
    const { code } = await stage.operator.invite({
      rights: ['observe', 'operate'],
      grant_expires_at,
      relay: null,
    })
    const device = await openPaired(5_000, code)
    const created = await device.create({ title: 'Long', prompt: 'Go.', workspace: 'site' })
    const held = async () => (await device.whoami()).paired
    const first = await held()
    clock.advance(310_000)
    await device.workspaces()
    await until(async () => (await held())?.grant !== first?.grant)
    const renewed = await held()
    expect(renewed).toEqual({
      ...first,
      grant: renewed?.grant,
      issued_at: expect.toSatisfy((at: number) => at >= grant_expires_at - 90),
      expires_at: expect.toSatisfy((at: number) => at > grant_expires_at),
    })
    // Past the first grant's end only the renewed one can be heard.
    clock.advance(100_000)
    const sent = await device.command({ task: created.task, action: 'queue', text: 'And then.' })
    expect(sent.state).toBe('accepted')
    expect((await journal()).map(({ sender }) => sender.grant)).toEqual([renewed?.grant])
  }, 60_000)
})
