import { openDevice } from '../../src/device/client.ts'
import type { Device } from '../../src/device/device.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { type AnsweringHost, answeringHost } from '../support/answering-host.ts'
import { dice } from '../support/dice.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type RelayInMemory, relayInMemory } from '../support/relay-in-memory.ts'
import { simulatedMachine } from '../support/simulated-disk.ts'

const url = 'wss://relay.example.net/'

/** A device, its host and their relay in memory, on a clock that only a test moves. */
export interface SimulatedStage {
  readonly clock: FakeClock
  readonly relay: RelayInMemory
  readonly host: AnsweringHost
  readonly disk: Disk
  /** Opens the device, as one more process would. */
  open(waitMs?: number, on?: Disk): Promise<Device>
  /** The same, paired. */
  openPaired(waitMs?: number): Promise<Device>
  /** What `work` gives, while time goes on in steps of 250 ms, for `mostMs` at most. */
  run<T>(work: Promise<T>, mostMs?: number): Promise<T>
}

export async function simulatedStage(seed = 1): Promise<SimulatedStage> {
  const clock = fakeClock()
  const relay = relayInMemory(clock, url)
  const machine = simulatedMachine(dice(seed).next)
  const disk = machine.boot()
  const host = answeringHost(url, clock, relay.dialFor('host'))

  const run = async <T>(work: Promise<T>, mostMs = 120_000): Promise<T> => {
    let settled = false
    const settle = (): void => {
      settled = true
    }
    work.then(settle, settle)
    for (let ms = 0; ms < mostMs; ms += 250) {
      await clock.advance(250)
      if (settled) return work
    }
    throw new Error(`it did not end within ${mostMs} ms`)
  }
  await run(host.live)

  const stage: SimulatedStage = {
    clock,
    relay,
    host,
    disk,
    open: (waitMs = 5_000, on = disk) =>
      openDevice({
        disk: on,
        clock,
        random: systemRandom,
        dial: relay.dialFor('device'),
        dir: '/device',
        policy: 'production',
        waitMs,
      }),
    async openPaired(waitMs) {
      const device = await run(stage.open(waitMs))
      await run(device.redeem(host.invite().code))
      return device
    },
    run,
  }
  return stage
}
