import { grantSecondsMax, invitationSeconds } from '../../limits.ts'
import { declare, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { wholeNumber, word } from '../options.ts'

/** `drawbridge invite`, `invite cancel`, `devices`, `revoke`: who may, as the local operator. @see spec/cli.md */
export function addAccess(program: Parent): void {
  const invite = declare(
    program,
    'invite',
    'lets one device in: an invitation that works once, for five minutes; until then its code is a live secret',
    'drawbridge invite --rights observe,operate --grant-seconds 604800\ndrawbridge invite --out code.txt\ndrawbridge invite cancel ID',
  )
    .option('--rights <list>', 'standard (default), pairing, admin, or rights separated by commas', word)
    .option(
      '--grant-seconds <n>',
      'how long the grant lives (default 30 days)',
      wholeNumber(invitationSeconds + 1, grantSecondsMax),
    )
    .option('--relay <url>', "one of the host's relays (default the first)", word)
    .option('--no-qr', 'without the QR code')
    .option(
      '--out <file>',
      'writes the code to a new file that only you can read (0600), and does not show it',
      word,
    )
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../access.ts')).invite(door, options))
    })
  declare(invite, 'cancel', 'takes an invitation back', 'drawbridge invite cancel ID')
    .argument('<invitation>', 'its ID')
    .action(async (id, _options, command) => {
      await answer(command, async (door) => (await import('../access.ts')).cancelInvite(door, id))
    })
  declare(program, 'devices', 'the devices that hold or held a grant', 'drawbridge devices').action(
    async (_options, command) => {
      await answer(command, async (door) => (await import('../access.ts')).devices(door))
    },
  )
  declare(
    program,
    'revoke',
    'ends every grant of a device, at once and for good',
    'drawbridge revoke --device HEX',
  )
    .requiredOption('--device <key>', "the device's public key, 64 hex", word)
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../access.ts')).revoke(door, options.device))
    })
}
