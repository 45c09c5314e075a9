import { memoryBytesMax, memoryBytesMin, streamBytesMax, wallSecondsMax } from '../../limits.ts'
import { declare, group, type Parent } from '../declare.ts'
import { answer } from '../door.ts'
import { many, wholeNumber, word } from '../options.ts'

const mib = 1_048_576

/** `drawbridge grant new`. @see spec/cli.md */
export function addGrant(program: Parent): void {
  const grant = group(
    program,
    'grant',
    "execution grants: the operator's leave for one turn",
    'drawbridge grant new TASK --program /bin/sh --arg -c --arg true --out grant.json',
  )
  declare(
    grant,
    'new',
    "drafts the grant for a task's current turn, shows it, and writes it with --out",
    "drawbridge grant new task-1 --program /bin/sh --arg -c --arg 'sort -o list.txt list.txt' --write --out grant.json",
  )
    .argument('<task>')
    .requiredOption('--program <path>', 'the program; its canonical path is used', word)
    .option('--arg <text>', 'an argument of the program; may be repeated', many)
    .option('--write', 'the turn may change the workspace')
    .option('--wall-seconds <n>', 'deadline of the turn (default 600)', wholeNumber(1, wallSecondsMax))
    .option(
      '--memory-mib <n>',
      'memory of the turn (default 2048)',
      wholeNumber(memoryBytesMin / mib, memoryBytesMax / mib),
    )
    .option('--stream-kib <n>', 'output held at once (default 256)', wholeNumber(1, streamBytesMax / 1024))
    .option('--out <file>', 'where to write it; an existing file is left alone', word)
    .option('--store <dir>', 'the task store (default HOME/tasks)', word)
    .action(async (id, options, command) => {
      await answer(command, async (door) => (await import('../grant.ts')).draft(door, id, options))
    })
}
