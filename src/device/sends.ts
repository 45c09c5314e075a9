import type { HostRequest } from '../protocol/bodies/request.ts'
import type { NewTask } from '../protocol/operations/tasks.ts'
import type { Operation } from '../protocol/operations.ts'
import { Refusal } from '../protocol/refusal.ts'
import { deviceTaskId } from '../protocol/task-id.ts'
import { nowSeconds } from '../seams/clock.ts'
import { randomId } from '../seams/random.ts'
import type { DeviceState } from './ask.ts'
import { basedOn } from './based-on.ts'
import type { NewCommand, Sent } from './device.ts'
import type { SeenTask } from './outbox.ts'
import type { Undecided } from './outbox-entry.ts'
import { checkRelayTakes } from './relay-room.ts'
import { requestBody } from './request.ts'
import { flushOutbox, type SenderDeps } from './sender.ts'
import { standings } from './sent.ts'

/** Keeps a create and sends it. A task of this device's own is seen at revision 1, where its first turn begins. */
export async function sendCreate(state: DeviceState, task: NewTask, signal?: AbortSignal): Promise<Sent> {
  const id = randomId(state.options.random)
  const created = deviceTaskId(state.pairing.paired().asker.publicKey, id)
  const seen = { task: created, revision: 1, workspace: task.workspace }
  return send(
    state,
    { id, kind: 'create', task: created, op: { kind: 'task.create', task } },
    { seen, signal },
  )
}

/**
 * Keeps a command and sends it. Refuses `timeout`, with nothing kept, when it needs the revision that its sender
 * saw and this device has seen none.
 */
export async function sendCommand(
  state: DeviceState,
  command: NewCommand,
  signal?: AbortSignal,
): Promise<Sent> {
  const { task, action, text, emulate = false } = command
  const givenMs = state.options.clock.nowMs()
  const id = randomId(state.options.random)
  const opOn = (based_on: number): Operation => ({
    kind: 'task.command',
    command: { command: id, task, action, based_on, text, emulate, issued_at: Math.floor(givenMs / 1000) },
  })
  // What could never travel is refused before the host is asked anything.
  checkTravels(state, id, opOn(0))
  const based_on = await unless(signal, basedOn(state, command, givenMs), () => notKept(action))
  return send(state, { id, kind: action, task, op: opOn(based_on) }, { signal })
}

/** Sends what is undecided, in order. */
export async function flush(
  { options, pairing, waitMs }: DeviceState,
  how: Pick<SenderDeps, 'changed' | 'afresh'> = {},
): Promise<void> {
  const { clock, random } = options
  await flushOutbox({ ...pairing.paired(), ...how, waitMs, clock, random })
}

/** Keeps something for sending before it is sent anywhere, sends what can be sent, and says how it stands. */
async function send(
  state: DeviceState,
  what: Pick<Undecided, 'id' | 'kind' | 'task' | 'op'>,
  { seen, signal }: { seen?: SeenTask; signal?: AbortSignal | undefined },
): Promise<Sent> {
  const { outbox } = state.pairing.paired()
  const body = checkTravels(state, what.id, what.op)
  await unless(signal, checkRelayTakes(body, state.options.information), () => notKept(what.kind))
  if (signal?.aborted === true) throw notKept(what.kind)
  const queued_at = nowSeconds(state.options.clock)
  const entry = { ...what, state: 'undecided' as const, queued_at, attempt: null, why: 'not sent yet' }
  await outbox.add(entry, seen)
  await unless(signal, flush(state), () => keptOnly(what))
  const sent = standings(await outbox.entries()).find((one) => one.id === what.id)
  if (sent === undefined) throw new Error('an entry left the outbox undecided')
  return sent
}

/** The request as it would be signed now. Refuses what no signed request could carry. */
function checkTravels({ options, pairing }: DeviceState, request: string, op: Operation): HostRequest {
  const to = pairing.paired().asker.to()
  return requestBody({ to, op, request, now: nowSeconds(options.clock), policy: options.policy })
}

/** What `work` gives, or the refusal of its interruption. The work itself goes on until the device is closed. */
async function unless<T>(
  signal: AbortSignal | undefined,
  work: Promise<T>,
  stopped: () => Refusal,
): Promise<T> {
  if (signal === undefined) return work
  let forget = (): void => {}
  const interrupted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(stopped())
    forget = () => signal.removeEventListener('abort', stop)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([work, interrupted])
  } finally {
    forget()
  }
}

function notKept(kind: string): Refusal {
  return new Refusal(
    'interrupted',
    `interrupted before the ${kind} was kept: it was not sent and will not be`,
  )
}

function keptOnly({ kind, id }: Pick<Undecided, 'kind' | 'id'>): Refusal {
  return new Refusal(
    'interrupted',
    `interrupted before its answer: the ${kind} is kept in the outbox as ${id}`,
    {
      hint: 'drawbridge device outbox sends it again',
    },
  )
}
