import {
  anyObject,
  bool,
  fields,
  hex,
  id,
  isObject,
  key,
  line,
  natural,
  oneOf,
  orNull,
  prose,
  type Rule,
  ranged,
  rights,
  set,
  type Verdict,
  whole,
  worst,
  yes,
} from './rule.ts'

const page = { workspace: line(128), cursor: orNull(line(1_024)), limit: ranged(1, 32) }
const code: Rule = (value) => {
  if (typeof value !== 'string' || /[^\u0000-\u007f]/.test(value)) return 'malformed'
  return line(32)(value)
}
const short = hex(32)

const command: Rule = (value) => {
  const shape = fields({
    command: id,
    task: id,
    action: oneOf('send', 'queue', 'steer', 'interrupt', 'answer'),
    based_on: natural,
    text: (text) => yes(typeof text === 'string'),
    emulate: bool,
    issued_at: natural,
  })(value)
  if (shape !== 'ok' || !isObject(value)) return shape
  const { action, text, emulate } = value
  const words = action === 'interrupt' ? line(512)(text) : prose(16_384)(text)
  return worst([yes(emulate === false || action === 'steer'), words])
}

const edits: Readonly<Record<string, Record<string, Rule>>> = {
  list: {},
  lease: {},
  release: {},
  edit: { command: id, text: prose(16_384) },
  remove: { command: id },
  reorder: { commands: set(id, 64) },
  send_now: { command: id },
}

/** The table of operations: the fields of each. @see spec/wire.md §6 */
const operations: Readonly<Record<string, Record<string, Rule>>> = {
  'enroll.redeem': { invitation: id, capability: id },
  'enroll.approve': {
    enrollment: id,
    request_digest: digest,
    code,
    device: key,
    rights,
    grant_expires_at: natural,
  },
  'enroll.deny': { enrollment: id, request_digest: digest },
  'invite.create': { rights, grant_expires_at: natural },
  'invite.cancel': { invitation: id },
  'device.list': {},
  'device.revoke': { device: key },
  'workspace.list': {},
  'task.create': { task: fields({ title: line(200), prompt: prose(16_384), workspace: line(128) }) },
  'task.steer': { task: id, revision: natural, prompt: prose(16_384) },
  'task.cancel': { task: id, revision: natural, reason: line(512) },
  'task.archive': { task: id },
  'task.command': { command },
  'task.queue': { task: id, edit: chosen('action', edits) },
  'task.list': { query: fields(page) },
  'task.read': { query: fields({ ...page, task: id, revision: orNull(natural) }) },
  'terminal.open': { cols: ranged(1, 1_000), rows: ranged(1, 1_000) },
  'chats.invite': {},
  'thread.list': {},
  'thread.read': { thread: short, before: orNull(whole(Number.MIN_SAFE_INTEGER)) },
  'thread.send': { thread: short, request: short, text: prose(32_768) },
  'thread.stop': { thread: short, request: orNull(short) },
  'thread.run': { thread: short },
  'spend.list': { grant: anyObject },
  'spend.settle': { receipt: anyObject },
}

/** What the operation of a request earns by its shape alone. */
export const operation: Rule = chosen('kind', operations)

const neededRights: Readonly<Record<string, string>> = {
  enroll: 'access_admin',
  invite: 'access_admin',
  'device.list': 'access_read',
  'device.revoke': 'access_admin',
  workspace: 'operate',
  task: 'operate',
  'task.list': 'observe',
  'task.read': 'observe',
  terminal: 'terminal',
  chats: 'observe',
  thread: 'operate',
  'thread.list': 'observe',
  'thread.read': 'observe',
  spend: 'operate',
}

/** The right that an operation needs. @see spec/wire.md §6 */
export function rightFor(kind: string): string {
  return neededRights[kind] ?? neededRights[kind.split('.')[0] ?? ''] ?? 'none'
}

/** Whether an operation changes what the host keeps, when it is carried out or recorded. */
export function mayWrite(kind: string): boolean {
  const reads = ['device.list', 'workspace.list', 'task.list', 'task.read']
  return !reads.includes(kind) && !/^(terminal|chats|thread|spend)\./.test(kind)
}

function chosen(by: string, table: Readonly<Record<string, Record<string, Rule>>>): Rule {
  return (value): Verdict => {
    if (!isObject(value) || !Object.hasOwn(value, by)) return 'malformed'
    const name = value[by]
    if (typeof name !== 'string' || !Object.hasOwn(table, name)) return 'malformed'
    return fields({ [by]: oneOf(name), ...table[name] })(value)
  }
}

function digest(value: unknown): Verdict {
  return yes(typeof value === 'string' && value.startsWith('sha256:') && id(value.slice(7)) === 'ok')
}
