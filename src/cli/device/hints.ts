import type { CommandAction, QueueEdit } from '../../protocol/operations/commands.ts'
import { isRefusal, Refusal, type RefusalCode } from '../../protocol/refusal.ts'

/** What a device asks for, as far as a refusal of it can be told what to do about. */
export type Asked =
  | 'redeem'
  | 'create'
  | 'look'
  | 'access'
  | 'approve'
  | 'deny'
  | 'accept'
  | CommandAction
  | QueueEdit['action']

type Hints = Readonly<Partial<Record<RefusalCode, string>>>

const anyTask = 'drawbridge device tasks shows the tasks that this device may name'
const leaseFirst =
  'take the queue first: drawbridge device lease TASK; drawbridge device queue-list TASK shows what still waits'
const ownMessages =
  'only a message that this device sent can be changed: drawbridge device queue-list TASK shows them'
const shorterText =
  'the text must not be blank, and at most 16 KiB without control characters (an interrupt: one line of 512 bytes)'
const wholeTask = 'a device names a task by its whole ID of 64 hex digits: drawbridge device tasks shows them'
const moved = 'the task went on meanwhile: look with drawbridge device read TASK, then send again'
const lookOnHost =
  'on the host, drawbridge status and drawbridge doctor say whether it can keep commands, and drawbridge task show TASK whether anybody knows how the last turn ended'
const messageHints: Hints = { forbidden: anyTask, bounds: shorterText, stale: moved, unavailable: lookOnHost }
const editHints: Hints = { conflict: leaseFirst, forbidden: ownMessages, unavailable: lookOnHost }
const queueHints: Hints = { forbidden: anyTask, unavailable: lookOnHost }
const askAnew = 'ask anew on the host: drawbridge enroll request'
const enrollHints: Hints = {
  expired: `an enrollment waits for five minutes; ${askAnew}`,
  denied: askAnew,
  rate_limited: `five wrong codes closed it; ${askAnew}`,
}
const busy =
  'nothing can be put into a turn of this engine: drawbridge device queue TASK TEXT waits behind it'

/** One line for each thing asked and each code that can answer it; TASK stands for the task that was named. */
const hints: Readonly<Record<Asked, Hints>> = {
  redeem: {
    forbidden:
      'the invitation was used, taken back, or is not for this device: ask for a new one (drawbridge invite)',
    conflict: 'the invitation was used by another device: ask for a new one (drawbridge invite)',
    revoked: 'the invitation was taken back: ask for a new one (drawbridge invite)',
    stale: 'set the clock of this device right, then ask for a new invitation (drawbridge invite)',
    bounds: 'the host serves as many devices as it can: its owner can revoke one (drawbridge revoke)',
    unsupported: 'the invitation is of another version of the protocol: use the same version on both sides',
  },
  create: {
    forbidden:
      'the host has no workspace of this label: drawbridge workspace list, on the host, shows the labels',
    conflict: 'the same request made another task: give the command again',
    bounds:
      'the title is one line of at most 200 bytes, the prompt at most 16 KiB without control characters',
    unsupported: 'this host takes no tasks of this kind',
  },
  look: {
    forbidden: anyTask,
    not_found: anyTask,
    stale: 'the task went on meanwhile: give the command again',
  },
  access: {
    forbidden:
      'only the owner, or a device with that right, may; a device gives no more time or rights than it has itself (drawbridge device whoami)',
    revoked: 'the grant of this device was ended: ask for a new one',
    bounds: 'the host keeps as many as it can: drawbridge device invite cancel ID takes one back',
  },
  approve: {
    ...enrollHints,
    missing_right:
      'a device approves with access_admin, and only rights that it holds itself: name fewer with --rights, or approve as the owner',
    wrong_code: 'read the code on the host again; after five wrong ones the enrollment is closed',
    conflict: 'it was approved for another device already: if that was not you, revoke that device',
    forbidden:
      'approve neither the host nor the owner, no more rights than the host asked for, and no more time than 30 days or your own grant has',
  },
  deny: {
    ...enrollHints,
    conflict: 'it was approved already: drawbridge device revoke --device KEY ends what it gave',
    forbidden: 'the host does not know this enrollment, or you may not administer its access',
  },
  accept: {
    malformed: 'the file must hold what enroll approve --out wrote for this very device, host and relay',
    stale: 'set the clock of this device right, or take the newest approval',
    expired: 'ask for a new approval: drawbridge enroll request, on the host',
  },
  send: {
    ...messageHints,
    conflict: 'the last turn has not ended, or messages wait: drawbridge device queue TASK TEXT waits for it',
  },
  queue: { ...messageHints, conflict: 'the task is archived: drawbridge device create makes a new one' },
  steer: { ...messageHints, unsupported: busy },
  interrupt: messageHints,
  answer: {
    ...messageHints,
    conflict: 'the task asks nothing now: drawbridge device send or queue TASK TEXT',
  },
  list: queueHints,
  lease: { ...queueHints, conflict: 'another device edits this queue: try again in a minute' },
  release: queueHints,
  edit: { ...editHints, bounds: shorterText },
  remove: editHints,
  reorder: {
    ...queueHints,
    conflict:
      'take the queue first (drawbridge device lease TASK) and name exactly the waiting messages that drawbridge device queue-list TASK shows',
  },
  send_now: { ...editHints, unsupported: busy },
}

/** What this device finds by itself before anything is asked, by the field that it names, whatever was to be asked. */
const ownFindings: Readonly<Record<string, string>> = {
  issued_at: 'set the clock right',
  'op.task': wholeTask,
  'op.command.task': wholeTask,
  relay:
    'a relay is a wss:// address; one at ws:// on this computer, for trying things, needs --loopback-test',
}

/** The line that says what to do about `code`, if there is one. */
export function hintFor(asked: Asked, code: RefusalCode, task = 'TASK'): string | undefined {
  return hints[asked][code]?.replaceAll('TASK', task)
}

/** Runs `run`; a refusal of it that does not say what to do about it does so from here on. */
export async function hinted<T>(asked: Asked, task: string | undefined, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!isRefusal(error) || error.hint !== undefined) throw error
    const hint = ownFindings[error.field ?? ''] ?? hintFor(asked, error.code, task)
    if (hint === undefined) throw error
    const { code, message, field, missing } = error
    throw new Refusal(code, message, {
      hint,
      cause: error,
      ...(field === undefined ? {} : { field }),
      ...(missing === undefined ? {} : { missing }),
    })
  }
}
