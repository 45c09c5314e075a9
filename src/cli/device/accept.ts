import { publicKeyFromText } from '../../bridge/public-key-text.ts'
import { enrollmentSecondsMax, relayFrameBytesMax } from '../../limits.ts'
import { type NostrEvent, parseEvent } from '../../protocol/event.ts'
import { parseStrictJson } from '../../protocol/strict-json.ts'
import type { Door } from '../door.ts'
import { readInput } from '../input.ts'
import type { Answer } from '../output.ts'
import { identityAnswer } from './actions.ts'
import { hinted } from './hints.ts'
import { type DeviceChoices, withOwnDevice } from './open.ts'

/**
 * Takes the grant of an approved enrollment: from a file, or as the host publishes it. Says this device's key first,
 * where it waits, since the approver names it.
 */
export async function accept(
  door: Door,
  file: string | undefined,
  choices: DeviceChoices & {
    host: string
    relay: string
    enrollment?: string | undefined
    wait?: number | undefined
  },
): Promise<Answer> {
  const given = file === undefined ? null : await readAuthorizationFile(file)
  const { relay, enrollment } = choices
  const wanted = {
    host: publicKeyFromText(choices.host),
    relay,
    ...(enrollment === undefined ? {} : { enrollment }),
  }
  const waitMs = (choices.wait ?? enrollmentSecondsMax) * 1000
  const accepted = () =>
    withOwnDevice(door, choices, async (device) => {
      if (given === null && !door.json) {
        door.err(`drawbridge: waiting for the approval of ${(await device.whoami()).device}\n`)
      }
      return device.accept(wanted, given, waitMs)
    })
  return identityAnswer(await hinted('accept', undefined, accepted))
}

async function readAuthorizationFile(file: string): Promise<NostrEvent> {
  const bytes = await readInput(file, 'configuration', relayFrameBytesMax)
  return parseEvent(parseStrictJson(bytes, { bytesMax: relayFrameBytesMax }).value)
}
