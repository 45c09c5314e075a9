import type { QueueEdit } from '../../protocol/operations/commands.ts'
import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'

/** `drawbridge queue …`: the queue verbs, as the owner. @see spec/commands.md §5 */
export function addQueue(program: Parent): void {
  const queue = group(
    program,
    'queue',
    'the messages that wait for a task, as the owner',
    'drawbridge queue list TASK',
  )
  declare(queue, 'list', 'in the order they run', 'drawbridge queue list TASK')
    .argument('<task>')
    .action(async (task, _options, command) => {
      await edit(command, task, { action: 'list' })
    })
  declare(queue, 'lease', 'takes the queue for a minute, or renews it', 'drawbridge queue lease TASK')
    .argument('<task>')
    .action(async (task, _options, command) => {
      await edit(command, task, { action: 'lease' })
    })
  declare(queue, 'release', 'gives the queue back', 'drawbridge queue release TASK')
    .argument('<task>')
    .action(async (task, _options, command) => {
      await edit(command, task, { action: 'release' })
    })
  declare(
    queue,
    'edit',
    "puts another text in place of the owner's message",
    "drawbridge queue edit TASK COMMAND 'New text.'",
  )
    .argument('<task>')
    .argument('<command>', 'the ID of the message')
    .argument('<text>')
    .action(async (task, id, text, _options, command) => {
      await edit(command, task, { action: 'edit', command: id, text })
    })
  declare(queue, 'remove', "takes the owner's message back", 'drawbridge queue remove TASK COMMAND')
    .argument('<task>')
    .argument('<command>', 'the ID of the message')
    .action(async (task, id, _options, command) => {
      await edit(command, task, { action: 'remove', command: id })
    })
  declare(
    queue,
    'reorder',
    'puts all waiting messages in a new order',
    'drawbridge queue reorder TASK SECOND FIRST',
  )
    .argument('<task>')
    .argument('<commands...>', 'the IDs of all of them, in the new order')
    .action(async (task, ids, _options, command) => {
      await edit(command, task, { action: 'reorder', commands: ids })
    })
  declare(
    queue,
    'send-now',
    "sends the owner's message before all others, into a turn whose engine takes messages while it runs; a running bounded-command takes none (unsupported)",
    'drawbridge queue send-now TASK COMMAND',
  )
    .argument('<task>')
    .argument('<command>', 'the ID of the message')
    .action(async (task, id, _options, command) => {
      await edit(command, task, { action: 'send_now', command: id })
    })
}

async function edit(command: Parameters<typeof answer>[0], task: string, change: QueueEdit): Promise<void> {
  await answer(command, async (door) => {
    const { operatorOf } = await import('../operator.ts')
    const { queueAnswer } = await import('../queue-answer.ts')
    const { knownTask } = await import('../known-task.ts')
    const { withQueueHint } = await import('../queue-hints.ts')
    const whole = await knownTask(door, undefined, task)
    const edited = () => operatorOf(door).editQueue(whole, change)
    return queueAnswer(await withQueueHint(change, whole, edited))
  })
}
