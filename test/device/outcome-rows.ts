import type { Grant } from '../../src/protocol/bodies/grant.ts'
import { sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { encodeInvitation } from '../../src/protocol/invitation.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import type { Outcome } from '../../src/protocol/outcomes.ts'
import { deviceTaskId } from '../../src/protocol/task-id.ts'
import type { TaskDetail, TaskItem, TaskStep } from '../../src/protocol/task-pages.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { testKey } from '../support/keys.ts'

export const host = testKey(11)
export const phone = testKey(13)
const tablet = testKey(14)
const stranger = testKey(15)
export const now = 1_795_000_000
export const relay = 'wss://relay.example.net/'
const id = (byte: number): string => byte.toString(16).padStart(2, '0').repeat(32)
const task = id(0x7a)
export const request = id(0x3c)

interface GrantChanges extends Partial<Grant> {
  readonly signer?: typeof host
  readonly recipient?: typeof host
  readonly mailbox?: string
}

/** The event by which a host gives a grant. */
function authorization(changes: GrantChanges = {}): NostrEvent {
  const { signer = host, recipient = phone, mailbox, ...fields } = changes
  const grant: Grant = {
    v: 'openagents.host-grant.v1',
    requires: [],
    grant: id(0x1a),
    host: host.publicKey,
    owner: testKey(12).publicKey,
    device: phone.publicKey,
    relay,
    rights: ['observe'],
    epoch: 0,
    origin: { kind: 'invitation', id: id(0xb1), issuer: host.publicKey },
    issued_at: now,
    expires_at: now + 3_600,
    ...fields,
  }
  return sealEnvelope({
    signer: signer.signer,
    recipient: recipient.publicKey,
    mailbox: mailbox ?? grant.grant,
    body: grant,
    conversationKey: signer.with(recipient.publicKey),
    issuedAt: grant.issued_at,
    retainUntil: grant.expires_at,
    random: systemRandom,
  })
}
const granted = (changes?: GrantChanges): Outcome => ({
  kind: 'granted',
  authorization: authorization(changes),
})
const brokenGrant = (of: NostrEvent): Outcome => ({
  kind: 'granted',
  authorization: { ...of, sig: authorization({ grant: id(1) }).sig },
})

const invited = (fields: { host?: string; invitation?: string; expires_at?: number; code?: string } = {}) => {
  const made = {
    host: fields.host ?? host.publicKey,
    invitation: id(0xb1),
    capability: id(0xd1),
    issued_at: now,
    expires_at: now + 300,
    relay,
  }
  const outcome: Outcome = {
    kind: 'invitation',
    invitation: fields.invitation ?? made.invitation,
    code: fields.code ?? encodeInvitation(made),
    expires_at: fields.expires_at ?? made.expires_at,
  }
  return outcome
}

export const item: TaskItem = {
  task,
  title: 'T',
  workspace: 'site',
  revision: 4,
  status: 'finished',
  phase: 'completed',
  attention: 'none',
  turn: 1,
  turn_start_revision: 1,
  updated_at: now,
  steering: { native: 'unsupported', emulation: null },
  note: null,
  run_tasks: [],
}
const step: TaskStep = {
  turn: 1,
  step: 1,
  at: now,
  role: 'user',
  text: 'x',
  cut: false,
  stream: null,
  ending: null,
  exit_code: null,
}
const detail = (changes: Partial<TaskDetail> = {}): Outcome => ({
  kind: 'task',
  task: {
    ...item,
    evidence: 'sealed',
    cost_usd: null,
    cost_status: 'unknown',
    steps: [],
    next: null,
    ...changes,
  },
})
const tasks = (...items: TaskItem[]): Outcome => ({ kind: 'tasks', tasks: { items, next: null } })
const dispatched = (operation: string, reference: string): Outcome => ({
  kind: 'dispatched',
  receipt: { operation, reference },
})
const revision = 4
const prompt = 'x'
const redeem: Operation = { kind: 'enroll.redeem', invitation: id(0xb1), capability: id(0xd1) }
const approve = (device: string): Operation => ({
  kind: 'enroll.approve',
  enrollment: id(0xe1),
  request_digest: `sha256:${id(0xe2)}`,
  code: 'ABCD-EFGH',
  device,
  rights: ['observe'],
  grant_expires_at: now + 3_600,
})
const approved: GrantChanges = { origin: { kind: 'approval', id: id(0xe1), issuer: phone.publicKey } }
const forTablet: GrantChanges = { ...approved, device: tablet.publicKey, recipient: tablet }
const steer: Operation = { kind: 'task.steer', task, revision, prompt }
const command: Operation = {
  kind: 'task.command',
  command: {
    command: id(0x6f),
    task,
    action: 'queue',
    based_on: 0,
    text: 'x',
    emulate: false,
    issued_at: now,
  },
}

/** An operation, what answers it, and what differs from that in one thing. */
export const outcomeRows: readonly [Operation, Outcome, Readonly<Record<string, Outcome>>][] = [
  [
    redeem,
    granted(),
    {
      'signed by another': granted({ signer: stranger }),
      'sealed to another device': granted({ recipient: tablet }),
      'in another mailbox': granted({ mailbox: id(9) }),
      'of another host': granted({ host: stranger.publicKey }),
      'for another device': granted({ device: tablet.publicKey }),
      'for another relay': granted({ relay: 'wss://other.example.net/' }),
      'of another invitation': granted({ origin: { kind: 'invitation', id: id(9), issuer: host.publicKey } }),
      'of an approval': granted(approved),
      'with a broken signature': brokenGrant(authorization()),
    },
  ],
  [
    approve(tablet.publicKey),
    granted(forTablet),
    {
      'signed by another': granted({ ...forTablet, signer: stranger }),
      'sealed to the approver': granted({ ...forTablet, recipient: phone }),
      'with a broken signature': brokenGrant(authorization(forTablet)),
    },
  ],
  [
    approve(phone.publicKey),
    granted(approved),
    {
      'of another enrollment': granted({ origin: { kind: 'approval', id: id(9), issuer: phone.publicKey } }),
      'of an invitation': granted(),
    },
  ],
  [
    { kind: 'enroll.deny', enrollment: id(0xe1), request_digest: `sha256:${id(0xe2)}` },
    { kind: 'denied' },
    {},
  ],
  [
    { kind: 'invite.create', rights: ['observe'], grant_expires_at: now + 3_600 },
    invited(),
    {
      'of another host': invited({ host: stranger.publicKey }),
      'of another invitation': invited({ invitation: id(9) }),
      'of another expiry': invited({ expires_at: now + 301 }),
      'with a code that is none': invited({ code: 'coder-host:AAAA' }),
    },
  ],
  [
    { kind: 'invite.cancel', invitation: id(0xb1) },
    { kind: 'cancelled', invitation: id(0xb1) },
    { 'another invitation': { kind: 'cancelled', invitation: id(9) } },
  ],
  [{ kind: 'device.list' }, { kind: 'devices', devices: [] }, {}],
  [
    { kind: 'device.revoke', device: tablet.publicKey },
    { kind: 'revoked', device: tablet.publicKey, epoch: 1, grants: [] },
    { 'another device': { kind: 'revoked', device: stranger.publicKey, epoch: 1, grants: [] } },
  ],
  [{ kind: 'workspace.list' }, { kind: 'workspaces', workspaces: [] }, {}],
  [
    { kind: 'task.create', task: { title: 'T', prompt, workspace: 'site' } },
    dispatched('task.create', deviceTaskId(phone.publicKey, request)),
    {
      'a receipt of another operation': dispatched('task.steer', deviceTaskId(phone.publicKey, request)),
      'the task of another device': dispatched('task.create', deviceTaskId(tablet.publicKey, request)),
      'the task of another request': dispatched('task.create', deviceTaskId(phone.publicKey, id(9))),
    },
  ],
  ...[
    steer,
    { kind: 'task.cancel', task, revision, reason: 'x' } as const,
    { kind: 'task.archive', task } as const,
    command,
  ].map((op): [Operation, Outcome, Readonly<Record<string, Outcome>>] => [
    op,
    dispatched(op.kind, task),
    {
      'a receipt of another operation': dispatched('task.create', task),
      'a receipt of another task': dispatched(op.kind, id(9)),
    },
  ]),
  [
    { kind: 'task.queue', task, edit: { action: 'list' } },
    { kind: 'queue', queue: { task, revision, lease: null, items: [] } },
    { 'another task': { kind: 'queue', queue: { task: id(9), revision, lease: null, items: [] } } },
  ],
  [
    { kind: 'task.list', query: { workspace: 'site', cursor: null, limit: 1 } },
    tasks(item),
    {
      'a task of another workspace': tasks({ ...item, workspace: 'demo' }),
      'more than was asked for': tasks(item, { ...item, task: id(9) }),
    },
  ],
  [
    { kind: 'task.read', query: { workspace: 'site', task, revision: null, cursor: null, limit: 1 } },
    detail({ steps: [step] }),
    {
      'another task': detail({ task: id(9) }),
      'another workspace': detail({ workspace: 'demo' }),
      'more than was asked for': detail({ steps: [step, { ...step, step: 2 }] }),
    },
  ],
]
