import type { Sent } from '../../device/device.ts'
import type { CommandAction } from '../../protocol/operations/commands.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Door } from '../door.ts'
import { type Answer, facts } from '../output.ts'
import { type Asked, hinted } from './hints.ts'
import { messageText } from './message-text.ts'
import { type DeviceChoices, withDevice } from './open.ts'
import { refusalOf, standing } from './standing.ts'

const sendAgain = 'drawbridge device outbox sends it again now'

/** Asks for a new task; durable. */
export async function create(
  door: Door,
  choices: DeviceChoices & { workspace: string; title: string; prompt: string },
): Promise<Answer> {
  const { workspace, title } = choices
  const prompt = await messageText(choices.prompt)
  const task = { title, prompt, workspace }
  const created = () => withDevice(door, choices, (device) => device.create(task, untilStopped(door)))
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
  const sent = () => withDevice(door, choices, (device) => device.command(command, untilStopped(door)))
  return sentAnswer(action, await hinted(action, task, sent))
}

/**
 * How a send stands. One that the host refused is that refusal. One that is unknown is an answer, since it has an ID to
 * follow it by, and a refusal too, since nobody knows yet whether it had its effect.
 */
function sentAnswer(asked: Asked, sent: Sent): Answer {
  if (sent.state === 'refused') throw refusalOf(sent, asked)
  const text = facts([
    [sent.kind, standing(sent)],
    ['task', sent.task],
    ['id', sent.id],
  ])
  return sent.state === 'unknown' ? { json: sent, text, refusal: unknown(sent) } : { json: sent, text }
}

function unknown({ kind, id, why }: Extract<Sent, { state: 'unknown' }>): Refusal {
  const kept = `the ${kind} is kept in the outbox as ${id}, and sent again by the next create or message of this device`
  return new Refusal('timeout', `unknown, still trying: ${why}; ${kept}`, { hint: sendAgain })
}

/** Aborts when a person or the system ends the command: a send then says first whether it was kept. */
function untilStopped(door: Door): AbortSignal {
  const stop = new AbortController()
  door.stopped().then(() => stop.abort())
  return stop.signal
}
