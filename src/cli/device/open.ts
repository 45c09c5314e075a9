import { resolve } from 'node:path'
import { publicKeyFromText } from '../../bridge/public-key-text.ts'
import { openDevice } from '../../device/client.ts'
import type { Device } from '../../device/device.ts'
import { openOwner } from '../../device/owner/client.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { RelayPolicy } from '../../protocol/relay-url.ts'
import { askRelayInformation } from '../../seams/http-relay-information.ts'
import { systemRandom } from '../../seams/random.ts'
import { dialRelay } from '../../seams/ws-relay-socket.ts'
import { realDisk } from '../../store/disk.ts'
import type { Door } from '../door.ts'
import { asksAsOwner, type OwnerChoices, openOwnerKey, placeOf } from './owner.ts'

/** The options of every device command. */
export interface DeviceChoices extends OwnerChoices {
  state?: string | undefined
  loopbackTest?: true | undefined
}

/**
 * Opens the device, or the host's owner where one is named, hands it to `use`, and ends its connection whatever
 * happens. Refuses `conflict` for a device of another host than the named one.
 */
export async function withDevice<T>(
  door: Door,
  choices: DeviceChoices,
  use: (device: Device) => Promise<T>,
): Promise<T> {
  if (asksAsOwner(choices)) return withOwner(door, choices, use)
  return withOwnDevice(door, choices, async (device) => {
    await checkPlace(device, choices)
    return use(device)
  })
}

/** The same for the device of the state directory, whoever else is named. */
export async function withOwnDevice<T>(
  door: Door,
  choices: DeviceChoices,
  use: (device: Device) => Promise<T>,
): Promise<T> {
  const device = await openDevice(optionsOf(door, choices))
  try {
    return await use(device)
  } finally {
    device.close()
  }
}

/** Where the device's own directory is. */
export function stateOf(door: Door, { state }: DeviceChoices): string {
  return state === undefined ? `${door.home}/device` : resolve(state)
}

/** Which relays a command may name. */
export function policyOf({ loopbackTest }: DeviceChoices): RelayPolicy {
  return loopbackTest === true ? 'loopback_test' : 'production'
}

async function withOwner<T>(
  door: Door,
  choices: DeviceChoices,
  use: (device: Device) => Promise<T>,
): Promise<T> {
  const options = optionsOf(door, choices)
  const place = await placeOf(choices, options)
  const key = await openOwnerKey(door, choices, options)
  try {
    const owner = await openOwner({ ...options, ...place, ...key })
    try {
      return await use(owner)
    } finally {
      owner.close()
    }
  } finally {
    key.close()
  }
}

async function checkPlace(device: Device, { host, relay }: DeviceChoices): Promise<void> {
  const { paired } = await device.whoami()
  if (paired === null) return
  const isItsOwn =
    (host === undefined || publicKeyFromText(host) === paired.host) &&
    (relay === undefined || relay === paired.relay)
  if (!isItsOwn) {
    throw new Refusal('conflict', 'this device is paired with another host or over another relay', {
      hint: 'drawbridge device whoami shows which; --state DIR names another device, --owner-signer or --owner-key-file the owner',
    })
  }
}

function optionsOf(door: Door, choices: DeviceChoices) {
  return {
    disk: realDisk,
    clock: door.clock,
    random: systemRandom,
    dial: dialRelay,
    information: askRelayInformation,
    dir: stateOf(door, choices),
    policy: policyOf(choices),
  }
}
