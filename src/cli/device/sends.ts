import type { Sent } from '../../device/device.ts'
import type { CommandAction } from '../../protocol/operations/commands.ts'
import { Refusal } from '../../protocol/refusal.ts'
import type { Door } from '../door.ts'
import { type Answer, facts, localTime, table } from '../output.ts'
import { type Asked, hinted, hintFor } from './hints.ts'
import { messageText } from './message-text.ts'
import { type DeviceChoices, withDevice } from './open.ts'

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

/**
 * How a send stands. One that the host refused is that refusal. One that is unknown is an answer, since it has an ID to
 * follow it by, and a refusal too, since nobody knows yet whether it had its effect.
 */
function sentAnswer(asked: Asked, sent: Sent): Answer {
  if (sent.state === 'refused') {
    const missing = sent.missing === null ? {} : { missing: sent.missing }
    const why = sent.missing === null ? '' : `: the right ${sent.missing} is missing`
    const hint = hintFor(asked, sent.code, sent.task)
    const facts = hint === undefined ? missing : { ...missing, hint }
    throw new Refusal(sent.code, `the host refused the ${sent.kind}${why}`, facts)
  }
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

function standing(sent: Sent): string {
  if (sent.state === 'refused') return `refused ${sent.code}`
  return sent.state === 'unknown' ? `unknown, still trying (${sent.why})` : 'accepted'
}
