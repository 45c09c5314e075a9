import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Relay, startRelay } from '../../../src/relay/listen.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { systemRandom } from '../../../src/seams/random.ts'
import { bridgeStage } from '../../support/bridge-stage.ts'
import type { Going } from '../../support/door.ts'
import { testKey } from '../../support/keys.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { type WirePeer, wirePeer } from '../../support/wire-peer.ts'

const scalar = 1_700

/** A home in which a device is enrolled, to be copied for each run. */
export interface Mould {
  /** A copy of it, with a fresh relay at the same address and the device connected to that. */
  cast(): Promise<Cast>
}

/** What one run plays with. */
export interface Cast {
  readonly home: string
  readonly log: string
  readonly device: WirePeer
  /** Remembers a service that was started, to end it in the end. */
  started<T extends Going>(service: T): T
  /** Ends services and relay and removes every file. */
  end(): Promise<void>
}

export async function makeMould(): Promise<Mould> {
  const stage = await bridgeStage()
  const { grant } = await stage.device(scalar)
  const { port } = stage.relay
  const host = stage.host
  await stage.end()
  return {
    async cast() {
      const base = await tempDir()
      const home = join(base, 'home')
      await cp(stage.home, home, { recursive: true })
      const relay = await relayAt(port, host)
      const device = await wirePeer({ key: testKey(scalar), host, relay: relay.url, clock: systemClock })
      device.grant = grant
      const services: Going[] = []
      return {
        home,
        log: join(base, 'strace.log'),
        device,
        started(service) {
          services.push(service)
          return service
        },
        async end() {
          for (const service of services) await service.stop('SIGKILL')
          device.close()
          await relay.close()
          await rm(base, { recursive: true, force: true })
        },
      }
    },
  }
}

function relayAt(port: number, host: string): Promise<Relay> {
  const where = { host: '127.0.0.1', port, serves: () => [host] }
  return startRelay({ clock: systemClock, random: systemRandom, ...where })
}
