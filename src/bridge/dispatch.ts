import { isQueueChange, type Operation, type OperationKind, operationRows } from '../protocol/operations.ts'
import type { DeviceEntry, Outcome } from '../protocol/outcomes.ts'
import { Refusal } from '../protocol/refusal.ts'
import { answerBytesUnder } from '../protocol/relay-limits.ts'
import { utf8Bytes } from '../protocol/text.ts'
import type { Asking, GrantingContext, TaskContext } from './operations/context.ts'
import { devicesNow, revoke } from './operations/devices.ts'
import { approveEnrollment, refuseEnrollment } from './operations/enrollments.ts'
import { invitationIdOf, invite, uninvite } from './operations/invitations.ts'
import { archiveTask, cancelTask, steerTask } from './operations/task-change.ts'
import { editQueue, recordCommand } from './operations/task-command.ts'
import { createTask } from './operations/task-create.ts'
import { listTasks } from './operations/task-list.ts'
import { readTask } from './operations/task-read.ts'

/** Everything that an operation may need, and the relay that new invitations name. */
export interface DispatchContext extends GrantingContext, TaskContext {
  invitationRelay(): string
  /** How long a signed event may be on a relay, in bytes. */
  eventBytesMax(relay: string): number
}

/** How a request's identity and answer are kept. @see spec/wire.md §7, steps 6 and 7 */
export type Keeping =
  /** Durable before the act and before the answer. */
  | 'effect'
  /** The command journal is the record; the answer rides on the next write. */
  | 'journal'
  /** No effect: the answer rides on the next write. */
  | 'read'
  /** Not kept at all. */
  | 'none'

const effects: readonly OperationKind[] = [
  'enroll.approve',
  'enroll.deny',
  'invite.create',
  'invite.cancel',
  'device.revoke',
  'task.create',
  'task.steer',
  'task.cancel',
  'task.archive',
]

/**
 * How the answer to an operation is kept. A queue edit has no identity of its own in the journal, so unlike a command it
 * is known again by its request alone.
 */
export function keepingOf(op: Operation): Keeping {
  if (op.kind === 'task.command') return 'journal'
  if (isQueueChange(op) || effects.includes(op.kind)) return 'effect'
  return operationRows[op.kind].retained ? 'read' : 'none'
}

/**
 * Acts on an admitted operation.
 *
 * Refuses with wire or store codes; operations whose owner this host does not have refuse `unavailable`.
 * @see spec/wire.md §6
 */
export async function dispatch(context: DispatchContext, asking: Asking, op: Operation): Promise<Outcome> {
  switch (op.kind) {
    case 'workspace.list':
      return { kind: 'workspaces', workspaces: labelsOf(context) }
    case 'task.create':
      return dispatched(op.kind, await createTask(context, asking, op.task))
    case 'task.steer':
      await steerTask(context, asking, op)
      return dispatched(op.kind, op.task)
    case 'task.cancel':
      await cancelTask(context, asking, op)
      return dispatched(op.kind, op.task)
    case 'task.archive':
      await archiveTask(context, asking, op.task)
      return dispatched(op.kind, op.task)
    case 'task.command':
      await recordCommand(context, asking, op.command)
      return dispatched(op.kind, op.command.task)
    case 'task.queue':
      return {
        kind: 'queue',
        queue: await editQueue(context, asking, op.task, op.edit, roomFor(context, asking)),
      }
    case 'task.list':
      return { kind: 'tasks', tasks: await listTasks(context, op.query, roomFor(context, asking)) }
    case 'task.read':
      return { kind: 'task', task: await readTask(context, op.query, roomFor(context, asking)) }
    default:
      return await dispatchAccess(context, asking, op)
  }
}

async function dispatchAccess(context: DispatchContext, asking: Asking, op: Operation): Promise<Outcome> {
  switch (op.kind) {
    case 'invite.create': {
      const { rights, grant_expires_at } = op
      const relay = context.invitationRelay()
      const terms = { rights, grant_expires_at, relay }
      return {
        kind: 'invitation',
        ...(await invite(context, asking.principal, terms, invitationIdOf(asking))),
      }
    }
    case 'invite.cancel':
      await uninvite(context, asking.principal, op.invitation)
      return { kind: 'cancelled', invitation: op.invitation }
    case 'device.list':
      return { kind: 'devices', devices: fitting(devicesNow(context), roomFor(context, asking)) }
    case 'device.revoke':
      return { kind: 'revoked', ...(await revoke(context, asking.principal, op.device)) }
    case 'enroll.approve':
      return { kind: 'granted', authorization: await approveEnrollment(context, asking, op) }
    case 'enroll.deny':
      await refuseEnrollment(context, asking, op)
      return { kind: 'denied' }
    default:
      throw new Refusal('unavailable', 'this host has no owner of that operation')
  }
}

/** How long an outcome may be, in bytes, for its answer to be published on the relay that was asked over. */
function roomFor(context: DispatchContext, { relay }: Asking): number {
  return answerBytesUnder(context.eventBytesMax(relay))
}

function labelsOf(context: TaskContext): string[] {
  return [...new Set(context.settings().workspaces.map(({ label }) => label))].sort()
}

function dispatched(operation: OperationKind, reference: string): Outcome {
  return { kind: 'dispatched', receipt: { operation, reference } }
}

/** The dead ones that would make the answer too long are left out; living ones never are. */
function fitting(devices: readonly DeviceEntry[], bytesMax: number): DeviceEntry[] {
  const shown: DeviceEntry[] = []
  let bytes = 64
  for (const entry of devices) {
    bytes += utf8Bytes(JSON.stringify(entry)) + 1
    if (bytes <= bytesMax) shown.push(entry)
    else if (entry.state === 'active') throw new Refusal('bounds', 'the devices do not fit one answer')
    else break
  }
  return shown
}
