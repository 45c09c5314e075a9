import type { Device, Whoami } from '../../device/device.ts'
import type { QueueEdit } from '../../protocol/operations/commands.ts'
import type { TaskItem } from '../../protocol/task-pages.ts'
import type { Door } from '../door.ts'
import { readSecret } from '../input.ts'
import { type Answer, facts, localTime, table } from '../output.ts'
import { secretWarning } from '../protocol.ts'
import { queueAnswer } from '../queue-answer.ts'
import { hinted } from './hints.ts'
import { messageText } from './message-text.ts'
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

/** A device's identity, for a program and for a person. */
export function identityAnswer({ device, paired }: Whoami): Answer {
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
