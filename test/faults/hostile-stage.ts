import { join } from 'node:path'
import { controlClient } from '../../src/bridge/control-client.ts'
import { initHome } from '../../src/bridge/home.ts'
import { createLog } from '../../src/bridge/log.ts'
import type { Operator } from '../../src/bridge/operator.ts'
import { type Service, startService } from '../../src/bridge/service.ts'
import { openDevice } from '../../src/device/client.ts'
import type { Device } from '../../src/device/device.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { realDisk } from '../../src/store/disk.ts'
import { gitWorkspace } from '../support/git-workspace.ts'
import { type HurriedClock, hurriedClock, unhurriedDisk } from '../support/hurried-clock.ts'
import { testKey } from '../support/keys.ts'
import { memoryDir } from '../support/temp-dir.ts'
import { type HostileRelay, hostileRelay } from './hostile-relay.ts'

/** A device of the stage, and where it lives. */
export interface StagedDevice {
  readonly device: Device
  readonly key: string
  readonly dir: string
}

/** A real service and real devices, on real files, around a hostile relay, all on one hurried clock. */
export interface HostileStage {
  readonly home: string
  readonly host: string
  readonly clock: HurriedClock
  readonly disk: Disk
  readonly relay: HostileRelay
  readonly operator: Operator
  /** What the service logged as an error. */
  readonly errors: string[]
  service(): Service
  start(): Promise<void>
  stop(): Promise<void>
  /** Opens a device, paired while the relay behaves. */
  device(waitMs?: number): Promise<StagedDevice>
  /** Ends everything. */
  end(): Promise<void>
}

/** How long a device of the stage waits for one answer, in milliseconds. */
const deviceWaitMs = 6_000

export async function hostileStage(seed: number): Promise<HostileStage> {
  const clock = hurriedClock()
  const disk = unhurriedDisk(realDisk, clock)
  const relay = await hostileRelay({ seed, clock })
  const home = await memoryDir()
  const { path } = await gitWorkspace()
  const deps = { disk, clock, random: systemRandom, home }
  const { host } = await initHome(deps, {
    owner: testKey(12).publicKey,
    relays: [relay.url],
    workspaces: [{ label: 'site', path }],
    loopbackTest: true,
  })
  const errors: string[] = []
  const log = createLog(clock, 'error', { write: (line) => void errors.push(line) })
  const launcher = { launch: () => Promise.reject(new Error('nothing is launched here')) }
  const devices: Device[] = []
  let service: Service | null = null

  const stage: HostileStage = {
    home,
    host,
    clock,
    disk,
    relay,
    operator: controlClient({ ...deps, disk: realDisk, clock: systemClock }),
    errors,
    service() {
      if (service === null) throw new Error('the service is stopped')
      return service
    },
    async start() {
      service = await startService({ ...deps, dial: dialRelay, launcher, log, pid: process.pid })
      await service.ready
    },
    async stop() {
      await service?.stop()
      service = null
    },
    async device(waitMs = deviceWaitMs) {
      const dir = join(await memoryDir(), 'device')
      const device = await openDevice({ ...deps, dial: dialRelay, dir, policy: 'loopback_test', waitMs })
      devices.push(device)
      const grant_expires_at = nowSeconds(clock) + 2_500_000
      const { code } = await stage.operator.invite({
        rights: ['observe', 'operate'],
        grant_expires_at,
        relay: null,
      })
      const { device: key } = await device.redeem(code)
      return { device, key, dir }
    },
    async end() {
      relay.faults.odds = {}
      for (const device of devices) device.close()
      await stage.stop()
      await relay.close()
      clock.stop()
    },
  }
  return stage
}
