import { grantSecondsMax } from '../../limits.ts'
import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { wholeNumber, word } from '../options.ts'
import { byApprover } from './device-common.ts'

/** `drawbridge enroll …`: reverse enrollment, from both ends. @see spec/cli.md */
export function addEnroll(program: Parent): void {
  const enroll = group(
    program,
    'enroll',
    'lets a device in that the owner, or a device that administers access, approves from afar',
    'drawbridge enroll request --rights observe,operate\ndrawbridge enroll approve --host KEY --code CODE --device KEY',
  )
  addRequest(enroll)
  addApprove(enroll)
  addDeny(enroll)
}

function addRequest(enroll: Parent): void {
  declare(
    enroll,
    'request',
    'asks for the approval of a device on this host; shows a code that works for five minutes',
    'drawbridge enroll request --rights observe,operate',
  )
    .option('--rights <list>', 'the most to be approved: standard (default), pairing, admin, or rights', word)
    .option('--relay <url>', "one of the host's relays (default the first)", word)
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../enroll.ts')).requestEnrollment(door, options))
    })
}

function addApprove(enroll: Parent): void {
  byApprover(
    declare(
      enroll,
      'approve',
      'approves a device on a host that asks for it: as its owner, or as a device that administers access',
      'drawbridge enroll approve --host KEY --code CODE --device KEY --owner-signer bunker.txt --relay wss://relay.example',
    )
      .requiredOption('--host <key>', 'the host that asks: npub1… or 64 hex', word)
      .requiredOption('--code <code>', 'the code that the host shows, or - for standard input', word)
      .requiredOption('--device <key>', 'the device to let in (drawbridge device whoami, on it)', word)
      .option(
        '--rights <list>',
        'fewer than the host asks for: a preset, or rights separated by commas',
        word,
      )
      .option(
        '--grant-seconds <n>',
        'how long the grant lives (default as long as may be)',
        wholeNumber(1, grantSecondsMax),
      )
      .option('--enrollment <id>', 'which, where several of this host wait', word)
      .option('--relay <url>', 'where the host asks (default that of --state)', word)
      .option('--out <file>', 'writes the grant to a new file for the device to accept', word),
  ).action(async (options, command) => {
    await answer(command, async (door) => (await import('../device/approve.ts')).approve(door, options))
  })
}

function addDeny(enroll: Parent): void {
  byApprover(
    declare(
      enroll,
      'deny',
      'denies what a host asks for: nobody can approve it then',
      'drawbridge enroll deny --host KEY',
    )
      .requiredOption('--host <key>', 'the host that asks: npub1… or 64 hex', word)
      .option('--enrollment <id>', 'which, where several of this host wait', word)
      .option('--relay <url>', 'where the host asks (default that of --state)', word),
  ).action(async (options, command) => {
    await answer(command, async (door) => (await import('../device/approve.ts')).deny(door, options))
  })
}
