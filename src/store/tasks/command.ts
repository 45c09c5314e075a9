import * as z from 'zod'
import { promptBytesMax, reasonBytesMax, taskCommandBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { isIdentifier, isStoreText } from '../../protocol/text.ts'
import { type Intent, intentFault, intentSchema } from './intent.ts'
import { readStrict } from './strict.ts'

export const taskCommandSchemaName = 'openagents.coder.task-command.v1'

/** What a store command does. */
export type TaskAction =
  | { type: 'submit'; intent: Intent }
  | { type: 'cancel'; reason: string }
  | { type: 'correct'; prompt: string; reason: string }
  | { type: 'continue'; prompt: string }

/** A command of the task store. @see spec/store.md §3 */
export interface TaskCommand {
  schema: typeof taskCommandSchemaName
  command_id: string
  task_id: string
  expected_revision: number | null
  action: TaskAction
}

/** Images are reserved: the field may be present, and must then be empty. */
const submittedIntent = intentSchema.extend({ images: z.array(z.json()).default([]) })

const actionShape = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('submit'), intent: submittedIntent }),
  z.strictObject({ type: z.literal('cancel'), reason: z.string() }),
  z.strictObject({ type: z.literal('correct'), prompt: z.string(), reason: z.string() }),
  z.strictObject({ type: z.literal('continue'), prompt: z.string() }),
])

const commandShape = z.strictObject({
  schema: z.string(),
  command_id: z.string(),
  task_id: z.string(),
  expected_revision: z.int().nullable().default(null),
  action: actionShape,
})
type CommandShape = z.infer<typeof commandShape>

/**
 * Reads a store command. Bytes that were accepted once stay acceptable: these rules may widen, never tighten.
 * @throws `limit_exceeded` past 64 KiB; `unsupported_schema` for a right shape under another schema;
 * `invalid_command` for everything else
 * @see spec/store.md §3
 */
export function parseTaskCommand(bytes: Uint8Array): TaskCommand {
  if (bytes.length > taskCommandBytesMax) {
    throw new Refusal('limit_exceeded', `command is larger than ${taskCommandBytesMax} bytes`)
  }
  const parsed = commandShape.safeParse(readStrict(bytes, taskCommandBytesMax, 'command', 'invalid_command'))
  if (!parsed.success) throw invalid(parsed.error.issues[0]?.path.map(String).join('.') || 'shape')
  const { schema, ...command } = parsed.data
  if (schema !== taskCommandSchemaName) {
    throw new Refusal('unsupported_schema', 'command: another schema', { field: 'schema' })
  }
  const fault = identityFault(command) ?? actionFault(command)
  if (fault !== null) throw invalid(fault)
  return { schema, ...command, action: plainAction(command.action) }
}

function invalid(field: string): Refusal {
  return new Refusal('invalid_command', `command: ${field} is not acceptable`, { field })
}

function identityFault({ command_id, task_id }: Omit<CommandShape, 'schema'>): string | null {
  if (!isIdentifier(command_id) || command_id === task_id) return 'command_id'
  return isIdentifier(task_id) ? null : 'task_id'
}

/** The first field that breaks a rule of its action, or null. */
function actionFault({ action, expected_revision }: Omit<CommandShape, 'schema'>): string | null {
  if ((action.type === 'submit') !== (expected_revision === null)) return 'expected_revision'
  if (action.type === 'submit') {
    if (action.intent.images.length > 0) return 'action.intent.images'
    const fault = intentFault(action.intent)
    return fault === null ? null : `action.intent.${fault}`
  }
  if (action.type !== 'cancel' && !isStoreText(action.prompt, promptBytesMax, 'multi')) return 'action.prompt'
  if (action.type !== 'continue' && !isStoreText(action.reason, reasonBytesMax, 'multi'))
    return 'action.reason'
  return null
}

function plainAction(action: CommandShape['action']): TaskAction {
  if (action.type !== 'submit') return action
  const { images: _reserved, ...intent } = action.intent
  return { type: 'submit', intent }
}
