import type { Device, Sent, Whoami } from '../../device/device.ts'
import { messageBytesMax } from '../../limits.ts'
import type { CommandAction, QueueEdit } from '../../protocol/operations/commands.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { TaskItem } from '../../protocol/task-pages.ts'
import type { Door } from '../door.ts'
import { readInput, readSecret } from '../input.ts'
import { type Answer, facts, localTime, table } from '../output.ts'
import { secretWarning } from '../protocol.ts'
import { queueAnswer } from '../queue-answer.ts'
import { type Asked, hinted, hintFor } from './hints.ts'
import { type DeviceChoices, withDevice } from './open.ts'

/** Pairs with the host of an invitation. */
export async function redeem(door: Door, given: string, choices: DeviceChoices): Promise<Answer> {
  const text = await readSecret(given, 'coder-host:', () => door.err(secretWarning))
  const code = text.split('\n')[0]?.trim() ?? ''
  const paired = () => withDevice(door, choices, (device) => device.redeem(code))
  return identityAnswer(await hinted('redeem', undefined, paired))
}

/** What this device is and may do. */
export async function whoami(door: Door, choices: DeviceChoices): Promise<Answer> {
  return identityAnswer(await withDevice(door, choices, (device) => device.whoami()))
}

/** The tasks of one workspace, or of every one that the host serves. */
export async function tasks(
  door: Door,
  choices: DeviceChoices & { workspace?: string | undefined },
): Promise<Answer> {
  const look = async (device: Device) => {
    const labels = choices.workspace === undefined ? await device.workspaces() : [choices.workspace]
    const lists: TaskItem[][] = []
    for (const label of labels) lists.push(await everyTask(device, label))
    return lists.flat()
  }
  // What a host refuses of a list is its workspace.
  const found = await hinted('create', undefined, () => withDevice(door, choices, look))
  if (found.length === 0) return { json: { tasks: found }, text: 'no tasks\n' }
  const rows = found.map((task) => [
    task.task,
    task.workspace,
    task.phase,
    String(task.turn),
    localTime(task.updated_at),
    task.note === null ? task.title : `${task.title} (${task.note})`,
  ])
  return {
    json: { tasks: found },
    text: table(['task', 'workspace', 'phase', 'turn', 'updated', 'title'], rows),
  }
}

/** Asks for a new task; durable. */
export async function create(
  door: Door,
  choices: DeviceChoices & { workspace: string; title: string; prompt: string },
): Promise<Answer> {
  const { workspace, title } = choices
  const prompt = await messageText(choices.prompt)
  const task = { title, prompt, workspace }
  const created = () => withDevice(door, choices, (device) => device.create(task))
  return sentAnswer('create', await hinted('create', undefined, created))
}

/** Sends a message to a task; durable. */
export async function send(
  door: Door,
  action: CommandAction,
  task: string,
  given: string,
  choices: DeviceChoices & { emulate?: true | undefined },
): Promise<Answer> {
  const text = await messageText(given)
  const command = { task, action, text, emulate: choices.emulate ?? false }
  const sent = () => withDevice(door, choices, (device) => device.command(command))
  return sentAnswer(action, await hinted(action, task, sent))
}

/** Looks at or edits the messages that wait. */
export async function editQueue(
  door: Door,
  task: string,
  change: QueueEdit,
  choices: DeviceChoices,
): Promise<Answer> {
  const edit = change.action === 'edit' ? { ...change, text: await messageText(change.text) } : change
  const edited = () => withDevice(door, choices, (device) => device.queue(task, edit))
  return queueAnswer(await hinted(edit.action, task, edited))
}

/** What was sent and how it stands, after what is still unknown was sent again. */
export async function outbox(door: Door, choices: DeviceChoices): Promise<Answer> {
  const sends = await withDevice(door, choices, (device) => device.flush())
  if (sends.length === 0) return { json: { sends }, text: 'nothing was sent\n' }
  const rows = sends.map((sent) => [
    localTime(sent.queued_at),
    sent.task.slice(0, 12),
    sent.kind,
    sent.id.slice(0, 12),
    standing(sent),
  ])
  return { json: { sends }, text: table(['queued', 'task', 'kind', 'id', 'stands'], rows) }
}

function identityAnswer({ device, paired }: Whoami): Answer {
  if (paired === null)
    return {
      json: { device, paired },
      text: facts([
        ['device', device],
        ['paired', 'no'],
      ]),
    }
  const text = facts([
    ['device', device],
    ['host', paired.host],
    ['owner', paired.owner],
    ['relay', paired.relay],
    ['rights', paired.rights.join(', ')],
    ['until', localTime(paired.expires_at)],
  ])
  return { json: { device, paired: true, ...paired }, text }
}

/** An accepted send is an answer; the two others are refusals, and what is unknown stays in the outbox. */
function sentAnswer(asked: Asked, sent: Sent): Answer {
  if (sent.state === 'refused') {
    const missing = sent.missing === null ? {} : { missing: sent.missing }
    const why = sent.missing === null ? '' : `: the right ${sent.missing} is missing`
    const hint = hintFor(asked, sent.code, sent.task)
    const facts = hint === undefined ? missing : { ...missing, hint }
    throw new Refusal(sent.code, `the host refused the ${sent.kind}${why}`, facts)
  }
  if (sent.state === 'unknown') {
    throw new Refusal('timeout', `unknown, still trying: ${sent.why}`, { hint: 'drawbridge device outbox' })
  }
  return {
    json: sent,
    text: facts([
      [sent.kind, standing(sent)],
      ['task', sent.task],
      ['id', sent.id],
    ]),
  }
}

function standing(sent: Sent): string {
  if (sent.state === 'refused') return `refused ${sent.code}`
  return sent.state === 'unknown' ? `unknown, still trying (${sent.why})` : 'accepted'
}

async function everyTask(device: Device, label: string): Promise<TaskItem[]> {
  const all: TaskItem[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: TaskItem[]; next: string | null } = await device.tasks(
      label,
      cursor === '' ? {} : { cursor },
    )
    all.push(...page.items)
    cursor = page.next
  }
  return all
}

async function messageText(given: string): Promise<string> {
  if (given !== '-') return given
  const bytes = await readInput('-', 'configuration', messageBytesMax)
  return new TextDecoder('utf-8').decode(bytes).replace(/\n$/, '')
}
