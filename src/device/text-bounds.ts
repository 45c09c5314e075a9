import { interruptBytesMax, messageBytesMax, titleBytesMax, workspaceLabelBytesMax } from '../limits.ts'
import type { Operation } from '../protocol/operations.ts'
import { Refusal } from '../protocol/refusal.ts'
import { hasLoneSurrogate, isBlank, isStoreText, utf8Bytes } from '../protocol/text.ts'

/** One text of an operation, as people call it, with its bound. */
interface Bounded {
  readonly name: string
  readonly field: string
  readonly text: string
  readonly bytesMax: number
  readonly lines: 'single' | 'multi'
}

/**
 * Refuses `bounds` for a text that the protocol does not carry, naming which, the rule that it breaks and the number.
 * A message with control characters could travel, but no task takes it.
 * @see spec/wire.md §1, §6, spec/store.md §2
 */
export function checkTexts(op: Operation): void {
  for (const bounded of textsOf(op)) {
    const breach = breachOf(bounded)
    if (breach !== null)
      throw new Refusal('bounds', `the ${bounded.name} ${breach}`, { field: bounded.field })
  }
}

/** The texts of the operations that people write. */
function textsOf(op: Operation): readonly Bounded[] {
  switch (op.kind) {
    case 'task.create':
      return [
        singleLine('title', 'op.task.title', op.task.title, titleBytesMax),
        message('prompt', 'op.task.prompt', op.task.prompt),
        label('op.task.workspace', op.task.workspace),
      ]
    case 'task.command': {
      const { action, text } = op.command
      if (action !== 'interrupt') return [message('message', 'op.command.text', text)]
      return [singleLine('reason', 'op.command.text', text, interruptBytesMax)]
    }
    case 'task.queue':
      return op.edit.action === 'edit' ? [message('message', 'op.edit.text', op.edit.text)] : []
    case 'task.list':
    case 'task.read':
      return [label('op.query.workspace', op.query.workspace)]
    default:
      return []
  }
}

function message(name: string, field: string, text: string): Bounded {
  return { name, field, text, bytesMax: messageBytesMax, lines: 'multi' }
}

function singleLine(name: string, field: string, text: string, bytesMax: number): Bounded {
  return { name, field, text, bytesMax, lines: 'single' }
}

function label(field: string, text: string): Bounded {
  return singleLine('workspace label', field, text, workspaceLabelBytesMax)
}

function breachOf({ text, bytesMax, lines }: Bounded): string | null {
  if (isBlank(text)) return 'is empty'
  if (hasLoneSurrogate(text)) return 'has half of a character (a lone surrogate)'
  const bytes = utf8Bytes(text)
  if (bytes > bytesMax) return `has ${bytes} bytes, over ${bytesMax}`
  if (isStoreText(text, bytesMax, lines)) return null
  return lines === 'single'
    ? 'has a control character, such as a line end: it is one line'
    : 'has a control character other than line ends and tabs'
}
