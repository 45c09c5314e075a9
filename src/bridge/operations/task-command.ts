import type { Sender } from '../../commands/journal-entry.ts'
import { wireResult } from '../../commands/wire-result.ts'
import { answerBytesMax } from '../../limits.ts'
import type { DeviceCommand, QueueEdit } from '../../protocol/operations/commands.ts'
import type { QueueView } from '../../protocol/outcomes.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { utf8Bytes } from '../../protocol/text.ts'
import type { Asking, TaskContext } from './context.ts'

/**
 * Records a device's command. A handling receipt comes back, never evidence that anything ran.
 *
 * Refuses as the journal does, and with the code that the command's state has on the wire.
 * @see spec/commands.md §2
 */
export async function recordCommand(
  context: Pick<TaskContext, 'commands'>,
  asking: Asking,
  asked: DeviceCommand,
): Promise<void> {
  const { action, ...rest } = asked
  const state = await context.commands.record(senderOf(asking), { ...rest, kind: action })
  const result = wireResult(state)
  if (!result.ok) throw new Refusal(result.code, 'the command was not carried out')
}

/**
 * Looks at or changes what is held for a task.
 *
 * Refuses as the journal does. The texts that would make the answer too long are left out from the end backwards.
 * @param bytesMax of the view's JSON
 * @see spec/commands.md §5
 */
export async function editQueue(
  context: Pick<TaskContext, 'commands'>,
  asking: Asking,
  task: string,
  edit: QueueEdit,
  bytesMax: number = answerBytesMax,
): Promise<QueueView> {
  return fitting(await context.commands.edit(senderOf(asking), task, edit), bytesMax)
}

/** Who the journal takes for the sender; the owner, near or far, names no grant. */
export function senderOf({ principal, signer }: Asking): Sender {
  if (principal.kind !== 'device') return { device: signer, grant: null, epoch: null }
  const { grant, epoch } = principal.entry.grant
  return { device: signer, grant, epoch }
}

function fitting(view: QueueView, bytesMax: number): QueueView {
  let bytes = utf8Bytes(JSON.stringify(view))
  const items = [...view.items]
  for (let index = items.length - 1; index >= 0 && bytes > bytesMax; index -= 1) {
    const item = items[index]
    if (item === undefined || item.text === null) continue
    bytes -= utf8Bytes(JSON.stringify(item.text)) - 4
    items[index] = { ...item, text: null }
  }
  return { ...view, items }
}
