import { memoryBytesMax, memoryBytesMin, runningMax, streamBytesMax, wallSecondsMax } from '../../limits.ts'
import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { many, wholeNumber, word } from '../options.ts'

const mib = 1_048_576

/** `drawbridge autostart on|off|show`: the owner's standing policy. @see spec/execution.md §13 */
export function addAutostart(program: Parent): void {
  const autostart = group(
    program,
    'autostart',
    "the owner's standing policy: which turns start by themselves",
    'drawbridge autostart show',
  )
  declare(
    autostart,
    'on',
    'lets the turns of some workspaces start by themselves, with one program',
    "drawbridge autostart on --workspace notes --program /bin/sh --arg -c --arg 'make -s check' --wall-seconds 300",
  )
    .requiredOption('--workspace <label>', 'a workspace; may be repeated', many)
    .option('--adapter <name>', 'what runs the turn (bounded-command)', word)
    .requiredOption('--program <path>', 'the program; its canonical path and digest are pinned', word)
    .option('--arg <text>', 'an argument of the program; may be repeated', many)
    .option('--write', 'the turn may change the workspace')
    .option('--max-running <n>', 'how many turns at once (default 1)', wholeNumber(1, runningMax))
    .option('--wall-seconds <n>', 'deadline of a turn (default 600)', wholeNumber(1, wallSecondsMax))
    .option(
      '--memory-mib <n>',
      'memory of a turn (default 2048)',
      wholeNumber(memoryBytesMin / mib, memoryBytesMax / mib),
    )
    .option('--stream-kib <n>', 'output held at once (default 256)', wholeNumber(1, streamBytesMax / 1024))
    .action(async (options, command) => {
      await answer(command, async (door) => (await import('../autostart.ts')).turnOn(door, options))
    })
  declare(autostart, 'off', 'every turn waits for the operator again', 'drawbridge autostart off').action(
    async (_options, command) => {
      await answer(command, async (door) => (await import('../autostart.ts')).turnOff(door))
    },
  )
  declare(autostart, 'show', 'the policy in force', 'drawbridge autostart show').action(
    async (_options, command) => {
      await answer(command, async (door) => (await import('../autostart.ts')).show(door))
    },
  )
}
