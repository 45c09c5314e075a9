import type { CommandKind } from '../../../src/commands/journal-entry.ts'
import type { Result } from '../../../src/protocol/bodies/reply.ts'
import type { DeviceCommand, QueueEdit } from '../../../src/protocol/operations/commands.ts'
import type { Operation } from '../../../src/protocol/operations.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import type { Dice } from '../../support/dice.ts'
import type { WirePeer } from '../../support/wire-peer.ts'

/** What was asked of the host, what it answered, and when. */
export interface Asked {
  readonly device: string
  readonly request: string
  readonly what: { readonly command: DeviceCommand } | { readonly edit: QueueEdit }
  readonly result: Result
  /** Before it was sent, and after it was heard: milliseconds of one clock. */
  readonly from: number
  readonly until: number
}

/** What all hands know: every command that was made, and the queue as one of them saw it last. */
interface Shared {
  readonly task: string
  readonly draws: Dice
  readonly made: { readonly device: string; readonly command: DeviceCommand }[]
  seen: readonly { readonly command: string; readonly priority: boolean }[]
  revision: number
}

export function sharedBy(task: string, draws: Dice): Shared {
  return { task, draws, made: [], seen: [], revision: 1 }
}

/** One of those who hold a device: asks `count` things, one after another, each drawn when the last was answered. */
export async function handOf(peer: WirePeer, shared: Shared, count: number): Promise<Asked[]> {
  const asked: Asked[] = []
  for (let index = 0; index < count; index += 1) {
    const device = peer.key.publicKey
    const what = shared.draws.chance(0.5) ? drawCommand(shared, device) : drawEdit(shared, device)
    const from = performance.now()
    const { request, event } = peer.sign(operation(shared.task, what))
    peer.send(event)
    const { result } = peer.open(await peer.replyTo(request))
    asked.push({ device, request, what, result, from, until: performance.now() })
    if (result.status === 'ok' && result.outcome.kind === 'queue') {
      shared.seen = result.outcome.queue.items
      shared.revision = Math.max(shared.revision, result.outcome.queue.revision)
    }
  }
  return asked
}

function operation(task: string, what: Asked['what']): Operation {
  if ('command' in what) return { kind: 'task.command', command: what.command }
  return { kind: 'task.queue', task, edit: what.edit }
}

const kinds: readonly CommandKind[] = [
  ...Array<CommandKind>(7).fill('queue'),
  ...Array<CommandKind>(5).fill('steer'),
  ...Array<CommandKind>(7).fill('interrupt'),
  'send',
  'send',
  'answer',
]

/** A new command, one that was given before, or another under an ID that was used before. */
function drawCommand({ draws, made, task, revision }: Shared, device: string): Asked['what'] {
  const own = made.filter((one) => one.device === device)
  if (own.length > 0 && draws.chance(0.1)) {
    const { command } = draws.pick(own)
    return { command: draws.chance(0.7) ? command : { ...command, text: `${command.text} Or not.` } }
  }
  const action = draws.pick(kinds)
  const command: DeviceCommand = {
    command: Array.from({ length: 64 }, () => draws.below(16).toString(16)).join(''),
    task,
    action,
    based_on: draws.pick([0, revision, revision, 1_000_000]),
    text: `${action} ${made.length}`,
    emulate: action === 'steer' && draws.chance(0.3),
    issued_at: Math.floor(systemClock.nowMs() / 1_000),
  }
  made.push({ device, command })
  return { command }
}

const edits = [
  'list',
  'lease',
  'lease',
  'lease',
  'release',
  'edit',
  'edit',
  'remove',
  'reorder',
  'reorder',
  'send_now',
]

function drawEdit({ draws, made, seen }: Shared, device: string): Asked['what'] {
  const action = draws.pick(edits)
  const waiting = made.filter(
    (one) =>
      seen.some(({ command }) => command === one.command.command) &&
      (one.device === device || draws.chance(0.2)),
  )
  const from = waiting.length > 0 && draws.chance(0.85) ? waiting : made
  const command = from.length > 0 ? draws.pick(from).command.command : 'f'.repeat(64)
  switch (action) {
    case 'edit':
      return { edit: { action, command, text: `Edited to ${draws.below(1_000_000)}.` } }
    case 'remove':
    case 'send_now':
      return { edit: { action, command } }
    case 'reorder':
      return { edit: { action, commands: shuffled(draws, movable(seen)) } }
    case 'lease':
    case 'release':
      return { edit: { action } }
    default:
      return { edit: { action: 'list' } }
  }
}

function movable(seen: Shared['seen']): string[] {
  return seen.filter(({ priority }) => !priority).map(({ command }) => command)
}

function shuffled(draws: Dice, list: readonly string[]): string[] {
  return list
    .map((item) => ({ item, at: draws.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}
