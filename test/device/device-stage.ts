import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { openDevice } from '../../src/device/client.ts'
import type { Device, DeviceOptions } from '../../src/device/device.ts'
import { type Relay, startRelay } from '../../src/relay/listen.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { type AnsweringHost, answeringHost } from '../support/answering-host.ts'
import { movableClock } from '../support/movable-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { commandsHeard as commandsOf } from './commands-heard.ts'

export const clock = movableClock()
/** A task that the host knows and the device has never seen. */
export const task = '7a'.repeat(32)

/** The relay, the host and the state directory of the running test, fresh for each. */
export let relay: Relay
export let host: AnsweringHost
export let dir: string
let devices: Device[]

beforeEach(async () => {
  clock.reset()
  devices = []
  dir = join(await tempDir(), 'device')
  await start(0)
})

afterEach(async () => {
  for (const device of devices) device.close()
  host.close()
  await relay.close()
})

async function start(port: number): Promise<void> {
  relay = await startRelay({ clock, random: systemRandom, host: '127.0.0.1', port, serves: () => null })
  host = answeringHost(relay.url, clock)
  await host.live
}

/** Brings a closed relay back at its address, empty, and a host with it. */
export async function comeBack(): Promise<void> {
  host.close()
  await start(relay.port)
}

/** Opens the device of the test's state directory, as one more process would. */
export async function open(
  waitMs = 250,
  disk: Disk = realDisk,
  more: Partial<DeviceOptions> = {},
): Promise<Device> {
  const options = {
    disk,
    clock,
    random: systemRandom,
    dial: dialRelay,
    dir,
    policy: 'loopback_test',
    waitMs,
    ...more,
  } as const
  const device = await openDevice(options)
  devices.push(device)
  return device
}

/** The same, paired with the host. */
export async function openPaired(waitMs = 250): Promise<Device> {
  const device = await open(5_000)
  await device.redeem(host.invite().code)
  return waitMs === 5_000 ? device : open(waitMs)
}

/** The commands that the host got, in order. */
export const commandsHeard = () => commandsOf(host)
