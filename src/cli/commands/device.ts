import type { Command } from '@commander-js/extra-typings'
import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { anyText, anyWholeNumber, word } from '../options.ts'
import { addDeviceAccess } from './device-access.ts'
import { byDeviceOrOwner, deviceActions, deviceSends, loopback, state } from './device-common.ts'
import { addDeviceQueue } from './device-queue.ts'

/** `drawbridge device …`: a device on the command line, over the relay. @see spec/cli.md */
export function addDevice(program: Parent): void {
  const device = group(
    program,
    'device',
    'a device on the command line, over the relay',
    'drawbridge device redeem code.txt\ndrawbridge device tasks',
  )
  addIdentity(device)
  addLooking(device)
  addWatch(device)
  addCreate(device)
  addSends(device)
  addDeviceQueue(device)
  addDeviceAccess(device)
}

function addIdentity(device: Command): void {
  declare(device, 'redeem', 'redeems an invitation for a grant', 'drawbridge device redeem code.txt')
    .argument('<code>', 'a file, - for standard input, or the invitation itself')
    .option(...state, word)
    .option(...loopback)
    .action(async (code, options, command) => {
      await answer(command, async (door) => (await deviceActions()).redeem(door, code, options))
    })
  declare(device, 'whoami', 'what this device is and may do', 'drawbridge device whoami')
    .option(...state, word)
    .option(...loopback)
    .action(async (options, command) => {
      await answer(command, async (door) => (await deviceActions()).whoami(door, options))
    })
  byDeviceOrOwner(
    declare(
      device,
      'outbox',
      'what was sent and how it stands; sends again what is still unknown',
      'drawbridge device outbox --follow',
    ).option('--follow', 'stays and sends again until everything is decided'),
  ).action(async (options, command) => {
    await answer(command, async (door) => (await import('../device/outbox.ts')).outbox(door, options))
  })
}

function addLooking(device: Command): void {
  byDeviceOrOwner(
    declare(
      device,
      'tasks',
      'the tasks of a workspace, or of all',
      'drawbridge device tasks --workspace notes',
    ).option('--workspace <label>', 'only this workspace', word),
  ).action(async (options, command) => {
    await answer(command, async (door) => (await deviceActions()).tasks(door, options))
  })
  byDeviceOrOwner(
    declare(device, 'read', 'the transcript of a task', 'drawbridge device read TASK --follow')
      .argument('<task>')
      .option('--turn <n>', 'this turn, not the current one', anyWholeNumber)
      .option('--follow', 'goes on from turn to turn until the last ends and no message waits'),
  ).action(async (task, options, command) => {
    await answer(command, async (door) => (await import('../device/read.ts')).read(door, task, options))
  })
}

function addWatch(device: Command): void {
  declare(
    device,
    'watch',
    'how the tasks of the host stand, and each change as it comes',
    'drawbridge device watch',
  )
    .option(...state, word)
    .option(...loopback)
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../device/watch.ts')).watch(door, options))
    })
}

function addCreate(device: Command): void {
  byDeviceOrOwner(
    declare(
      device,
      'create',
      'asks for a new task',
      "drawbridge device create --workspace notes --title Sort --prompt 'Sort the list.'",
    )
      .requiredOption('--workspace <label>', 'the workspace', word)
      .requiredOption('--title <text>', 'one line, at most 200 bytes', anyText)
      .requiredOption('--prompt <text>', 'what to do, or - for standard input', anyText),
  ).action(async (options, command) => {
    await answer(command, async (door) => (await deviceSends()).create(door, options))
  })
}

function addSends(device: Command): void {
  const kinds = [
    ['send', 'starts the next turn of an ended task', 'And now the other list.'],
    ['queue', 'waits its turn behind what runs', 'Then count the lines.'],
    ['interrupt', 'stops what runs', 'enough'],
    ['answer', 'answers what the last turn asked', 'Yes, the blue one.'],
  ] as const
  for (const [kind, what, example] of kinds) {
    byDeviceOrOwner(
      declare(device, kind, `a message: ${what}`, `drawbridge device ${kind} TASK '${example}'`)
        .argument('<task>')
        .argument('<text>', 'the message, or - for standard input'),
    ).action(async (task, text, options, command) => {
      await answer(command, async (door) => (await deviceSends()).send(door, kind, task, text, options))
    })
  }
  byDeviceOrOwner(
    declare(
      device,
      'steer',
      'a message: changes a turn that waits to start, or one whose engine takes messages while it runs; a running bounded-command takes none (unsupported)',
      "drawbridge device steer TASK 'Keep the dates.'",
    )
      .argument('<task>')
      .argument('<text>', 'the message, or - for standard input')
      .option(
        '--emulate',
        'where an engine cannot be steered but stopped for a message: stop it, then go on with this one (a bounded-command cannot)',
      ),
  ).action(async (task, text, options, command) => {
    await answer(command, async (door) => (await deviceSends()).send(door, 'steer', task, text, options))
  })
}
