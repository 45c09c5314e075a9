import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { word } from '../options.ts'

/** `drawbridge enroll …`: reverse enrollment, from both ends. @see spec/cli.md */
export function addEnroll(program: Parent): void {
  const enroll = group(
    program,
    'enroll',
    'lets a device in that the owner, or a device that administers access, approves from afar',
    'drawbridge enroll request --rights observe,operate',
  )
  addRequest(enroll)
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
