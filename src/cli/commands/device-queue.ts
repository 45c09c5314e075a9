import type { Command } from '@commander-js/extra-typings'
import { declare } from '../declare.ts'
import { answer } from '../door.ts'
import { byDeviceOrOwner, deviceActions } from './device-common.ts'

/** The queue verbs of a device: list, lease, release, edit, remove, reorder, send now. @see spec/commands.md §5 */
export function addDeviceQueue(device: Command): void {
  byDeviceOrOwner(
    declare(
      device,
      'queue-list',
      'the messages that wait, in the order they run',
      'drawbridge device queue-list TASK',
    ).argument('<task>'),
  ).action(async (task, options, command) => {
    await edit(command, task, { action: 'list' }, options)
  })
  byDeviceOrOwner(
    declare(
      device,
      'lease',
      'takes the queue for a minute, or renews it',
      'drawbridge device lease TASK',
    ).argument('<task>'),
  ).action(async (task, options, command) => {
    await edit(command, task, { action: 'lease' }, options)
  })
  byDeviceOrOwner(
    declare(device, 'release', 'gives the queue back', 'drawbridge device release TASK').argument('<task>'),
  ).action(async (task, options, command) => {
    await edit(command, task, { action: 'release' }, options)
  })
  byDeviceOrOwner(
    declare(
      device,
      'edit',
      'puts another text in place of a waiting message',
      "drawbridge device edit TASK COMMAND 'New text.'",
    )
      .argument('<task>')
      .argument('<command>', 'the ID of the message')
      .argument('<text>', 'the new text, or - for standard input'),
  ).action(async (task, id, text, options, command) => {
    await edit(command, task, { action: 'edit', command: id, text }, options)
  })
  byDeviceOrOwner(
    declare(device, 'remove', 'takes a waiting message back', 'drawbridge device remove TASK COMMAND')
      .argument('<task>')
      .argument('<command>', 'the ID of the message'),
  ).action(async (task, id, options, command) => {
    await edit(command, task, { action: 'remove', command: id }, options)
  })
  byDeviceOrOwner(
    declare(
      device,
      'reorder',
      'puts all waiting messages in a new order',
      'drawbridge device reorder TASK SECOND FIRST',
    )
      .argument('<task>')
      .argument('<commands...>', 'the IDs of all of them, in the new order'),
  ).action(async (task, ids, options, command) => {
    await edit(command, task, { action: 'reorder', commands: ids }, options)
  })
  byDeviceOrOwner(
    declare(
      device,
      'send-now',
      'sends a waiting message before all others, into a turn whose engine takes messages while it runs; a running bounded-command takes none (unsupported)',
      'drawbridge device send-now TASK COMMAND',
    )
      .argument('<task>')
      .argument('<command>', 'the ID of the message'),
  ).action(async (task, id, options, command) => {
    await edit(command, task, { action: 'send_now', command: id }, options)
  })
}

type Actions = Awaited<ReturnType<typeof deviceActions>>

async function edit(
  command: Parameters<typeof answer>[0],
  task: string,
  change: Parameters<Actions['editQueue']>[2],
  options: Parameters<Actions['editQueue']>[3],
): Promise<void> {
  await answer(command, async (door) => (await deviceActions()).editQueue(door, task, change, options))
}
