import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'

/** `drawbridge commands list`: the journal of what devices sent. @see spec/commands.md §1 */
export function addCommands(program: Parent): void {
  const commands = group(
    program,
    'commands',
    'what devices sent, and what became of it',
    'drawbridge commands list',
  )
  declare(
    commands,
    'list',
    'the journal in its order, whole or for one task',
    'drawbridge commands list TASK --json',
  )
    .argument('[task]')
    .action(async (task, _options, command) => {
      await answer(command, async (door) => (await import('../journal.ts')).listCommands(door, task))
    })
}
