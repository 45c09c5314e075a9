import type { CommandKind } from '../../../src/commands/journal-entry.ts'
import { requestSecondsMax } from '../../../src/limits.ts'
import type { Result } from '../../../src/protocol/bodies/reply.ts'
import type { QueueEdit } from '../../../src/protocol/operations/commands.ts'
import type { Operation } from '../../../src/protocol/operations.ts'
import { deviceTaskId } from '../../../src/protocol/task-id.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import type { SentRequest, WirePeer } from '../../support/wire-peer.ts'

/** One thing that the device asks, again and again until it has a yes: the same request or command each time. */
export interface Asking {
  readonly op: Operation
  /** Of what is known again by its request only; signed anew, as a device does, once it is over. */
  signed?: SentRequest
}

/** The request that creates the task; a refused one is given up, and another is made. */
const createRequest = (attempt: number) => `c${attempt}`.padStart(64, '0')

/**
 * All that a queue can do, without any turn: a task is created, steered, gets messages that wait, which are edited under
 * a lease, put in another order, sent now and removed; interrupts end its turns, so that what waits is continued.
 */
export function script(device: WirePeer, attempt = 0): Asking[] {
  const task = taskOf(device, attempt)
  const issued_at = Math.floor(systemClock.nowMs() / 1_000)
  const id = (number: number) => number.toString(16).padStart(64, '0')
  const command = (number: number, action: CommandKind, text: string, based_on = 1): Asking => {
    const asked = { command: id(number), task, action, based_on, text, emulate: false, issued_at }
    return { op: { kind: 'task.command', command: asked } }
  }
  const edit = (change: QueueEdit): Asking => ({ op: { kind: 'task.queue', task, edit: change } })
  const made = { title: 'Sweep', prompt: 'Begin.', workspace: 'site' }
  const create: Operation = { kind: 'task.create', task: made }
  return [
    { op: create, signed: device.sign(create, { request: createRequest(attempt) }) },
    command(1, 'steer', 'Steered while it waits.'),
    command(2, 'queue', 'The first that waits.'),
    command(3, 'queue', 'The second that waits.'),
    command(4, 'queue', 'The third that waits.'),
    command(5, 'queue', 'The fourth that waits.'),
    edit({ action: 'lease' }),
    edit({ action: 'edit', command: id(3), text: 'The second, said better.' }),
    edit({ action: 'reorder', commands: [id(4), id(3), id(2), id(5)] }),
    edit({ action: 'send_now', command: id(2) }),
    edit({ action: 'remove', command: id(5) }),
    edit({ action: 'release' }),
    command(6, 'interrupt', 'Enough of the first turn.'),
    command(7, 'interrupt', 'Enough of the second turn.', 1_000),
    command(8, 'interrupt', 'Enough of the third turn.', 1_000),
    command(9, 'send', 'And once more.', 1_000),
    edit({ action: 'list' }),
  ]
}

/** The task of an attempt. */
export function taskOf(device: WirePeer, attempt: number): string {
  return deviceTaskId(device.key.publicKey, createRequest(attempt))
}

/** What became of asking once: an answer, or none because the service ended, or none in time. */
export type Heard = Result | 'ended' | 'silence'

/**
 * Asks once. What must stay the same request is the same event until that is over.
 * @param ended resolves when the service is no more
 */
export async function askOnce(device: WirePeer, asking: Asking, ended: Promise<unknown>): Promise<Heard> {
  return await Promise.race([
    (asking.signed === undefined ? device.ask(asking.op) : again(device, asking, asking.signed)).catch(
      (): Heard => 'silence',
    ),
    ended.then((): Heard => 'ended'),
  ])
}

async function again(device: WirePeer, asking: Asking, signed: SentRequest): Promise<Result> {
  const { request, event } = signed
  // Its answer may have come while nobody asked.
  if (device.heard(request) === 0) {
    const isOver = event.created_at + requestSecondsMax < systemClock.nowMs() / 1_000
    asking.signed = isOver ? device.sign(asking.op, { request }) : signed
    device.send(asking.signed.event)
  }
  return device.open(await device.replyTo(request)).result
}

export function isYes(heard: Heard): boolean {
  return typeof heard === 'object' && heard.status === 'ok'
}
