import type { Operation } from '../src/protocol/operations.ts'
import { deviceTaskId } from '../src/protocol/task-id.ts'
import { randomId, systemRandom } from '../src/seams/random.ts'
import type { FleetDevice, Signed } from './fleet.ts'

/** What devices do all day, in fiftieths. */
const day = {
  'task.read': 15,
  'task.command': 10,
  'task.list': 8,
  'task.queue': 8,
  'workspace.list': 4,
  'device.list': 4,
  'task.create': 1,
} as const
type Kind = keyof typeof day

/** Which operation comes where in fifty, well shuffled: seven and fifty share no divisor. */
const inOrder = Object.entries(day).flatMap(([kind, times]) =>
  Array.from({ length: times }, () => kind as Kind),
)
const kindAt = (place: number): Kind => inOrder[(place * 7) % inOrder.length] ?? 'workspace.list'

/** One device's day, signed ahead. */
export interface Day {
  next(): Signed
  /** A day without what has an effect: it can go on for ever. */
  nextLook(): Signed
  /** A command. */
  nextChange(): Signed
  readonly task: string
}

/** Begins a device's day with a task of its own. */
export async function beginDay(device: FleetDevice): Promise<Day> {
  let task = ''
  let place = 0
  const create = (): Signed => {
    const request = randomId(systemRandom)
    task = deviceTaskId(device.publicKey, request)
    const made = { title: 'Measure', prompt: 'Wait for a grant.', workspace: 'bench' }
    return device.sign({ kind: 'task.create', task: made }, request)
  }
  const sign = (kind: Kind): Signed =>
    kind === 'task.create' ? create() : device.sign(operation(kind, task))
  const first = device.read(await device.send(create()))
  if (first.status !== 'ok') throw new Error(JSON.stringify(first))
  return {
    get task() {
      return task
    },
    next() {
      place += 1
      return sign(kindAt(place))
    },
    nextChange: () => sign('task.command'),
    nextLook() {
      do place += 1
      while (['task.create', 'task.command'].includes(kindAt(place)))
      return sign(kindAt(place))
    },
  }
}

function operation(kind: Exclude<Kind, 'task.create'>, task: string): Operation {
  switch (kind) {
    case 'task.read':
      return { kind, query: { workspace: 'bench', task, revision: null, cursor: null, limit: 32 } }
    case 'task.list':
      return { kind, query: { workspace: 'bench', cursor: null, limit: 32 } }
    case 'task.queue':
      return { kind, task, edit: { action: 'list' } }
    case 'task.command': {
      const issued_at = Math.floor(Date.now() / 1000)
      const text = 'A correction: keep the links.'
      const command = { command: randomId(systemRandom), task, action: 'steer' as const, based_on: 1, text }
      return { kind, command: { ...command, emulate: false, issued_at } }
    }
    case 'workspace.list':
    case 'device.list':
      return { kind }
  }
}
