import { type QueueEdit, queueEditSchema } from '../protocol/operations/commands.ts'
import { isRefusal, Refusal, type RefusalCode } from '../protocol/refusal.ts'
import { refusalOf } from '../protocol/refusal-issues.ts'

type Hints = Readonly<Partial<Record<RefusalCode, string>>>

const whole: Hints = {
  forbidden: 'drawbridge task list shows the tasks',
  unavailable: 'drawbridge status and drawbridge doctor say what does not read',
}
const wholeId = 'a message is named by its whole ID of 64 hex digits: drawbridge queue list TASK shows them'
const own: Hints = {
  ...whole,
  malformed: wholeId,
  conflict:
    'take the queue first: drawbridge queue lease TASK; drawbridge queue list TASK shows what still waits',
  forbidden:
    "only the owner's own messages can be changed here: drawbridge queue list TASK shows them with their text",
}
const hints: Readonly<Record<QueueEdit['action'], Hints>> = {
  list: whole,
  lease: { ...whole, conflict: 'another device edits this queue: try again in a minute' },
  release: whole,
  edit: { ...own, bounds: 'the text must not be blank, and at most 16 KiB without control characters' },
  remove: own,
  reorder: {
    ...whole,
    malformed: wholeId,
    conflict:
      'take the queue first (drawbridge queue lease TASK) and name exactly the waiting messages that drawbridge queue list TASK shows',
  },
  send_now: {
    ...own,
    unsupported: 'nothing can be put into a turn of this engine: the message runs when the turn has ended',
  },
}

/**
 * What `work` gives; a refusal that names no next step by itself names what the owner can do about it. An edit that is
 * not of its shape is refused before anything is asked: `bounds` for its text, `malformed` for an ID.
 */
export async function withQueueHint<T>(edit: QueueEdit, task: string, work: () => Promise<T>): Promise<T> {
  try {
    const { error } = queueEditSchema.safeParse(edit)
    if (error !== undefined) throw refusalOf(error.issues, 'this edit')
    return await work()
  } catch (error) {
    if (!isRefusal(error) || error.hint !== undefined) throw error
    const hint = hints[edit.action][error.code]?.replaceAll('TASK', task)
    if (hint === undefined) throw error
    throw new Refusal(error.code, error.message, { hint, cause: error })
  }
}
