import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'

/** `drawbridge commands list [--follow]`: the journal of what devices sent. @see spec/commands.md §1 */
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
    'drawbridge commands list TASK --json\ndrawbridge commands list --follow',
  )
    .argument('[task]')
    .option('--follow', 'stays, and shows each command again whenever something about it changed')
    .action(async (task, options, command) => {
      await answer(command, async (door) => {
        if (options.follow !== true) return (await import('../journal.ts')).listCommands(door, task)
        return (await import('../follow-commands.ts')).followCommands(door, task)
      })
    })
}
