import * as z from 'zod'
import { accessOperations } from './operations/access.ts'
import { taskOperations } from './operations/tasks.ts'
import { unavailableOperations } from './operations/unavailable.ts'
import type { OutcomeKind } from './outcomes.ts'
import type { Right } from './rights.ts'

/** Everything that a request can ask for. @see spec/wire.md §6 */
export const operationSchema = z.discriminatedUnion('kind', [
  ...accessOperations,
  ...taskOperations,
  ...unavailableOperations,
])
export type Operation = z.infer<typeof operationSchema>
export type OperationKind = Operation['kind']
export type OperationOf<K extends OperationKind> = Extract<Operation, { kind: K }>

/** What an operation needs, and what answers it. */
export interface OperationRow {
  /** Null: no right is needed, because no grant can be named. */
  readonly right: Right | null
  /** The outcome of success; null for operations that this host always refuses `unavailable`. */
  readonly outcome: OutcomeKind | null
  /** Whether its reply is kept for exact retries. @see spec/wire.md §6, §7 */
  readonly retained: boolean
}

/** The operations table. @see spec/wire.md §6 */
export const operationRows: { readonly [K in OperationKind]: OperationRow } = {
  'enroll.redeem': { right: null, outcome: 'granted', retained: true },
  'enroll.approve': { right: 'access_admin', outcome: 'granted', retained: true },
  'enroll.deny': { right: 'access_admin', outcome: 'denied', retained: true },
  'invite.create': { right: 'access_admin', outcome: 'invitation', retained: true },
  'invite.cancel': { right: 'access_admin', outcome: 'cancelled', retained: true },
  'device.list': { right: 'access_read', outcome: 'devices', retained: true },
  'device.revoke': { right: 'access_admin', outcome: 'revoked', retained: true },
  'workspace.list': { right: 'operate', outcome: 'workspaces', retained: true },
  'task.create': { right: 'operate', outcome: 'dispatched', retained: true },
  'task.steer': { right: 'operate', outcome: 'dispatched', retained: true },
  'task.cancel': { right: 'operate', outcome: 'dispatched', retained: true },
  'task.archive': { right: 'operate', outcome: 'dispatched', retained: true },
  'task.command': { right: 'operate', outcome: 'dispatched', retained: true },
  'task.queue': { right: 'operate', outcome: 'queue', retained: true },
  'task.list': { right: 'observe', outcome: 'tasks', retained: false },
  'task.read': { right: 'observe', outcome: 'task', retained: false },
  'terminal.open': { right: 'terminal', outcome: null, retained: true },
  'chats.invite': { right: 'observe', outcome: null, retained: true },
  'thread.list': { right: 'observe', outcome: null, retained: false },
  'thread.read': { right: 'observe', outcome: null, retained: false },
  'thread.send': { right: 'operate', outcome: null, retained: false },
  'thread.stop': { right: 'operate', outcome: null, retained: false },
  'thread.run': { right: 'operate', outcome: null, retained: false },
  'spend.list': { right: 'operate', outcome: null, retained: true },
  'spend.settle': { right: 'operate', outcome: null, retained: true },
}

/** Whether an operation changes a queue: asked a second time it could undo what was changed since. */
export function isQueueChange(op: Operation): boolean {
  return op.kind === 'task.queue' && op.edit.action !== 'list'
}

/** The right that an operation needs; null for a redemption, which needs none. @see spec/wire.md §6 */
export function rightOf(op: Operation): Right | null {
  return operationRows[op.kind].right
}

/** Whether a successful answer to `operation` can have `outcome`. @see spec/wire.md §6 */
export function outcomeAnswers(operation: OperationKind, outcome: OutcomeKind): boolean {
  return operationRows[operation].outcome === outcome
}
