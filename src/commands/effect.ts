import { sha256Hex } from '../protocol/digest.ts'
import { isRefusal, type RefusalCode } from '../protocol/refusal.ts'
import { type TaskAction, taskCommandSchemaName } from '../store/tasks/command.ts'
import type { Effect } from './decide.ts'
import type { Dispatching, Entry, RejectReason } from './journal-entry.ts'

/** Why the store says a turn was corrected, and stopped, by a device. It is stored state: keep it fixed. */
const steered = 'Steered by an enrolled device'
const idDigits = 48

/**
 * The `dispatching` state of an entry: the exact store command that carries out `effect` on a task at `revision`.
 *
 * The store command's ID depends on the device and its command only, so nothing can run twice.
 * @see spec/commands.md §4
 */
export function dispatching(entry: Entry, effect: Effect, revision: number): Dispatching {
  const stops = effect.type === 'cancel_then_continue'
  const command = {
    schema: taskCommandSchemaName,
    command_id: `${storeCommandId(entry)}${stops ? '-stop' : ''}`,
    task_id: entry.request.task,
    expected_revision: revision,
    action: actionOf(effect),
  }
  return { state: 'dispatching', bytes: JSON.stringify(command), then_hold: stops }
}

/** What follows from a failure of the store to apply a recorded command. @see spec/commands.md §4 */
export type StoreFailure = 'decide_again' | 'uncertain' | RejectReason

/** Sorts what the store threw: refused for good, refused for this revision, or in doubt. */
export function storeFailure(error: unknown): StoreFailure {
  return (isRefusal(error) ? certain.get(error.code) : undefined) ?? 'uncertain'
}

/** The refusals that say for certain that the command was not applied. */
const certain = new Map<RefusalCode, StoreFailure>([
  ['revision_mismatch', 'decide_again'],
  ['invalid_transition', 'conflict'],
  ['command_conflict', 'conflict'],
  ['not_found', 'missing'],
  ['limit_exceeded', 'bounds'],
  ['invalid_command', 'bounds'],
])

function storeCommandId(entry: Entry): string {
  const digest = sha256Hex(`${entry.sender.device}:${entry.request.command}`)
  return `device-${digest.slice(0, idDigits)}`
}

function actionOf(effect: Effect): TaskAction {
  switch (effect.type) {
    case 'cancel':
      return { type: 'cancel', reason: effect.reason }
    case 'continue':
      return { type: 'continue', prompt: effect.prompt }
    case 'correct':
      return { type: 'correct', prompt: effect.prompt, reason: steered }
    case 'cancel_then_continue':
      return { type: 'cancel', reason: steered }
  }
}
