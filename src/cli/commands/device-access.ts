import type { Command } from '@commander-js/extra-typings'
import { grantSecondsMax, invitationSeconds } from '../../limits.ts'
import { declare } from '../declare.ts'
import { answer } from '../door.ts'
import { wholeNumber, word } from '../options.ts'
import { byDeviceOrOwner, loopback, state } from './device-common.ts'

/** Who may, over the relay: as the owner, or as a device that administers access. */
export function addDeviceAccess(device: Command): void {
  addAccept(device)
  byDeviceOrOwner(
    declare(device, 'list', 'the devices that hold or held a grant', 'drawbridge device list'),
  ).action(async (options, command) => {
    await answer(command, async (door) => (await accessActions()).devices(door, options))
  })
  byDeviceOrOwner(
    declare(
      device,
      'revoke',
      'ends every grant of a device, at once and for good',
      'drawbridge device revoke --device KEY',
    ).requiredOption('--device <key>', "the other device's public key: npub1… or 64 hex", word),
  ).action(async (options, command) => {
    await answer(command, async (door) => (await accessActions()).revoke(door, options))
  })
  byDeviceOrOwner(
    declare(device, 'workspaces', 'the workspaces of the host', 'drawbridge device workspaces'),
  ).action(async (options, command) => {
    await answer(command, async (door) => (await accessActions()).workspaces(door, options))
  })
  addInvite(device)
}

function addAccept(device: Command): void {
  declare(
    device,
    'accept',
    'takes the grant of an approved enrollment: waits for it, or reads it from a file',
    'drawbridge device accept --host KEY --relay wss://relay.example',
  )
    .argument('[file]', 'what enroll approve --out wrote, or - for standard input')
    .requiredOption('--host <key>', 'the host that was asked to let this device in', word)
    .requiredOption('--relay <url>', 'the relay of the enrollment', word)
    .option('--enrollment <id>', 'only the grant of this enrollment', word)
    .option('--wait <seconds>', 'how long to wait (default 300)', wholeNumber(1, 3_600))
    .option(...state, word)
    .option(...loopback)
    .action(async (file, options, command) => {
      await answer(command, async (door) => {
        return (await import('../device/accept.ts')).accept(door, file, options)
      })
    })
}

function addInvite(device: Command): void {
  const invite = byDeviceOrOwner(
    declare(
      device,
      'invite',
      'lets one more device in, over the relay: a code that works once, for five minutes; until then it is a live secret',
      'drawbridge device invite --rights observe\ndrawbridge device invite cancel ID',
    )
      .option('--rights <list>', 'standard (default), pairing, admin, or rights separated by commas', word)
      .option(
        '--grant-seconds <n>',
        'how long the grant lives (default as long as may be)',
        wholeNumber(invitationSeconds + 1, grantSecondsMax),
      )
      .option('--no-qr', 'without the QR code')
      .option('--out <file>', 'writes the code to a new file that only you can read (0600)', word),
  )
  invite.action(async (options, command) => {
    await answer(command, async (door) => (await accessActions()).invite(door, options))
  })
  declare(invite, 'cancel', 'takes an invitation back', 'drawbridge device invite cancel ID')
    .argument('<invitation>', 'its ID')
    .action(async (id, _options, command) => {
      // The options before and after `cancel` are those of `invite`.
      await answer(command, async (door) => (await accessActions()).cancelInvite(door, id, invite.opts()))
    })
}

function accessActions(): Promise<typeof import('../device/access.ts')> {
  return import('../device/access.ts')
}
