import type { Grant } from '../protocol/bodies/grant.ts'
import type { HostRequest } from '../protocol/bodies/request.ts'
import { parseBody } from '../protocol/body.ts'
import { envelopeAddress, type OpenedEnvelope } from '../protocol/envelope.ts'
import type { NostrEvent } from '../protocol/event.ts'
import { parseInvitation } from '../protocol/invitation.ts'
import { type Operation, outcomeAnswers } from '../protocol/operations.ts'
import type { Outcome } from '../protocol/outcomes.ts'
import { isRefusal, Refusal } from '../protocol/refusal.ts'
import type { RelayPolicy } from '../protocol/relay-url.ts'
import { verifyEvent } from '../protocol/signer.ts'
import { deviceTaskId } from '../protocol/task-id.ts'

export interface OutcomeTerms {
  /** The public key that asked. */
  readonly self: string
  /** Verifies and opens an event that is addressed to it. */
  readonly open: (event: NostrEvent) => OpenedEnvelope
  readonly request: HostRequest
  readonly policy: RelayPolicy
}

/**
 * Refuses `malformed` unless an outcome is of the kind that the operation earns, and names what the request named:
 * the same task, device, invitation or enrollment, and for a grant the device that it is for.
 * @see spec/wire.md §6
 */
export function checkOutcome(outcome: Outcome, terms: OutcomeTerms): void {
  const { op } = terms.request
  if (!outcomeAnswers(op.kind, outcome.kind)) throw foreign('')
  switch (outcome.kind) {
    case 'granted':
      checkGranted(outcome.authorization, terms)
      break
    case 'invitation':
      checkInvitation(outcome, terms)
      break
    case 'cancelled':
      must(op.kind === 'invite.cancel' && outcome.invitation === op.invitation, 'invitation')
      break
    case 'revoked':
      must(op.kind === 'device.revoke' && outcome.device === op.device, 'device')
      break
    case 'dispatched':
      must(outcome.receipt.operation === op.kind, 'receipt.operation')
      must(outcome.receipt.reference === referenceOf(terms), 'receipt.reference')
      break
    case 'queue':
      must(outcome.queue.task === taskOf(op), 'queue.task')
      break
    case 'tasks':
      checkTasks(outcome.tasks, op)
      break
    case 'task':
      checkTask(outcome.task, op)
      break
    // Nothing of the request comes back in these.
    case 'denied':
    case 'devices':
    case 'workspaces':
  }
}

/** Whether the host, beyond doubt, answered with what is no answer: whoever asked need not wait for another. */
export function isWrongOutcome({ code, field }: Refusal): boolean {
  return code === 'malformed' && field !== undefined && field.startsWith('result.outcome')
}

/** The task that an operation is about; null for one that has none yet. */
export function taskOf(op: Operation): string | null {
  switch (op.kind) {
    case 'task.command':
      return op.command.task
    case 'task.read':
      return op.query.task
    case 'task.steer':
    case 'task.cancel':
    case 'task.archive':
    case 'task.queue':
      return op.task
    default:
      return null
  }
}

/** The task that a receipt must name. That of a create follows from who asked and under which request ID. */
function referenceOf({ self, request }: OutcomeTerms): string | null {
  if (request.op.kind === 'task.create') return deviceTaskId(self, request.request)
  return taskOf(request.op)
}

/**
 * A grant is signed by the host for the device that asked, or for the one that was approved; only its own device can
 * read what it says.
 */
function checkGranted(event: NostrEvent, { self, open, request, policy }: OutcomeTerms): void {
  const { op, host } = request
  const device = op.kind === 'enroll.approve' ? op.device : self
  must(event.pubkey === host, 'authorization.signer')
  const { recipient } = read(() => envelopeAddress(event), 'authorization')
  must(recipient === device, 'authorization.recipient')
  if (device !== self) {
    must(verifyEvent(event), 'authorization.sig')
    return
  }
  const { opened, grant } = read(() => readGrant(open(event), policy), 'authorization')
  must(opened.mailbox === grant.grant, 'authorization.mailbox')
  must(grant.host === host, 'authorization.host')
  must(grant.device === self, 'authorization.device')
  must(grant.relay === request.relay, 'authorization.relay')
  must(isOf(grant, op), 'authorization.origin')
}

/** Whether a grant came about by what was asked. An approval that is repeated earns the terms of the first. */
function isOf({ origin }: Grant, op: Operation): boolean {
  if (op.kind === 'enroll.redeem') return origin.kind === 'invitation' && origin.id === op.invitation
  return op.kind === 'enroll.approve' && origin.kind === 'approval' && origin.id === op.enrollment
}

/** The code is good for the invitation that it came with, and of the host that was asked. */
function checkInvitation(
  outcome: Extract<Outcome, { kind: 'invitation' }>,
  { request, policy }: OutcomeTerms,
): void {
  const { invitation, host, expires_at } = read(() => parseInvitation(outcome.code, policy), 'code')
  must(host === request.host, 'code')
  must(invitation === outcome.invitation, 'invitation')
  must(expires_at === outcome.expires_at, 'expires_at')
}

function readGrant(opened: OpenedEnvelope, policy: RelayPolicy): { opened: OpenedEnvelope; grant: Grant } {
  return { opened, grant: parseBody('grant', opened.body, policy) }
}

/** What `reading` gives; what it refuses is no answer, whatever the reason. */
function read<T>(reading: () => T, field: string): T {
  try {
    return reading()
  } catch (error) {
    if (isRefusal(error)) throw foreign(field)
    throw error
  }
}

function checkTasks({ items }: Extract<Outcome, { kind: 'tasks' }>['tasks'], op: Operation): void {
  if (op.kind !== 'task.list') throw foreign('')
  const { workspace, limit } = op.query
  must(items.length <= limit, 'tasks.items')
  must(
    items.every((item) => item.workspace === workspace),
    'tasks.items.workspace',
  )
}

function checkTask(task: Extract<Outcome, { kind: 'task' }>['task'], op: Operation): void {
  if (op.kind !== 'task.read') throw foreign('')
  must(task.task === op.query.task, 'task.task')
  must(task.workspace === op.query.workspace, 'task.workspace')
  must(task.steps.length <= op.query.limit, 'task.steps')
}

function must(holds: boolean, field: string): void {
  if (!holds) throw foreign(field)
}

function foreign(field: string): Refusal {
  const path = field === '' ? 'result.outcome' : `result.outcome.${field}`
  return new Refusal('malformed', `not the answer to this request: ${path}`, { field: path })
}
