import { resolve } from 'node:path'
import { openDevice } from '../../device/client.ts'
import type { Device } from '../../device/device.ts'
import { systemRandom } from '../../seams/random.ts'
import { dialRelay } from '../../seams/ws-relay-socket.ts'
import { realDisk } from '../../store/disk.ts'
import type { Door } from '../door.ts'

/** The options of every device command. */
export interface DeviceChoices {
  state?: string | undefined
  loopbackTest?: true | undefined
}

/** Opens the device, hands it to `use`, and ends its connection whatever happens. */
export async function withDevice<T>(
  door: Door,
  choices: DeviceChoices,
  use: (device: Device) => Promise<T>,
): Promise<T> {
  const device = await openDevice({
    disk: realDisk,
    clock: door.clock,
    random: systemRandom,
    dial: dialRelay,
    dir: choices.state === undefined ? `${door.home}/device` : resolve(choices.state),
    policy: choices.loopbackTest === true ? 'loopback_test' : 'production',
  })
  try {
    return await use(device)
  } finally {
    device.close()
  }
}
