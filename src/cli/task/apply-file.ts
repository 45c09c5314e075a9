import { Refusal } from '../../protocol/refusal.ts'
import { parseTaskCommand } from '../../store/tasks/command.ts'
import { withStore } from '../deps.ts'
import type { Door } from '../door.ts'
import { readInput } from '../input.ts'
import type { Answer } from '../output.ts'
import { jsonLine } from '../printable.ts'

/**
 * Applies the task command in a file, if it is of the kind that was asked for. Nothing touches the store before
 * the command reads and matches: a malformed one never makes a store.
 *
 * Refuses `read_command`, the codes of a task command, `action_mismatch`, then those of the store.
 * @see spec/task-cli.md
 */
export async function applyFile(
  door: Door,
  action: 'submit' | 'cancel' | 'correct' | 'continue',
  options: { file: string; store?: string | undefined },
): Promise<Answer> {
  const bytes = await readInput(options.file, 'read_command')
  const command = parseTaskCommand(bytes)
  if (command.action.type !== action) {
    throw new Refusal('action_mismatch', `this command is a ${command.action.type}, not a ${action}`)
  }
  const receipt = await withStore(door, options.store, (store) => store.apply(bytes))
  return { json: receipt, text: jsonLine(receipt) }
}
