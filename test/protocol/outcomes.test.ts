import { describe, expect, it } from 'vitest'
import { parseBody } from '../../src/protocol/body.ts'
import { jcs } from '../../src/protocol/jcs.ts'
import type { JsonObject } from '../../src/protocol/json-value.ts'
import type { WireCode } from '../../src/protocol/refusal.ts'
import { hostFixtures, validBody } from '../support/host-fixtures.ts'
import { refused } from '../support/refusals.ts'

const id = '7a'.repeat(32)
const { phone, tablet } = hostFixtures.keys
const event = JSON.parse(JSON.stringify(hostFixtures.events[1]?.event)) as JsonObject

const entry = {
  device: phone,
  grant: id,
  rights: ['observe'],
  epoch: 0,
  origin: 'invitation',
  issued_at: 1,
  expires_at: 2,
  state: 'active',
  last_seen: 1,
}
const held = { command: id, device: phone, text: 'x', priority: false }
const queue = { task: id, revision: 2, lease: null, items: [held] }
const item = {
  task: id,
  title: 'T',
  workspace: 'site',
  revision: 3,
  status: 'running',
  phase: 'running',
  attention: 'none',
  turn: 1,
  turn_start_revision: 1,
  updated_at: 5,
  steering: { native: 'turn_boundary', emulation: null },
  note: null,
  run_tasks: [],
}
const step = {
  turn: 1,
  step: 1,
  at: 5,
  role: 'system',
  text: 'out\nput',
  cut: true,
  stream: 'stdout',
  ending: null,
  exit_code: null,
}
const detail = {
  ...item,
  evidence: 'sealed',
  cost_usd: null,
  cost_status: 'unknown',
  steps: [step],
  next: null,
}
const labels = (count: number) =>
  Array.from({ length: count }, (_, index) => `w${String(index).padStart(3, '0')}`)
const many = <T>(count: number, value: T) => Array.from({ length: count }, () => value)

type Case = [outcome: JsonObject, code: WireCode | 'accepted', field?: string]

const cases: Case[] = [
  [{ kind: 'granted', authorization: event }, 'accepted'],
  [{ kind: 'granted', authorization: { ...event, id: 'x' } }, 'malformed', 'authorization.id'],
  [{ kind: 'granted', authorization: null }, 'malformed', 'authorization'],
  [{ kind: 'denied' }, 'accepted'],
  [{ kind: 'denied', why: 'no' }, 'malformed', 'why'],
  [{ kind: 'cancelled', invitation: id }, 'accepted'],
  [{ kind: 'devices', devices: [] }, 'accepted'],
  [
    { kind: 'devices', devices: [entry, { ...entry, device: tablet, last_seen: null, state: 'revoked' }] },
    'accepted',
  ],
  [{ kind: 'devices', devices: [{ ...entry, state: 'lost' }] }, 'malformed', 'devices.0.state'],
  [
    { kind: 'devices', devices: [{ ...entry, origin: { kind: 'invitation' } }] },
    'malformed',
    'devices.0.origin',
  ],
  [{ kind: 'devices', devices: many(129, entry) }, 'bounds', 'devices'],
  [{ kind: 'revoked', device: phone, epoch: 1, grants: [] }, 'accepted'],
  [{ kind: 'revoked', device: phone, epoch: 1, grants: [id, id] }, 'malformed', 'grants'],
  [{ kind: 'workspaces', workspaces: [] }, 'accepted'],
  [{ kind: 'workspaces', workspaces: labels(64) }, 'accepted'],
  [{ kind: 'workspaces', workspaces: labels(65) }, 'bounds', 'workspaces'],
  [{ kind: 'workspaces', workspaces: ['site', 'docs'] }, 'malformed', 'workspaces'],
  [{ kind: 'workspaces', workspaces: ['docs', 'docs'] }, 'malformed', 'workspaces'],
  [{ kind: 'workspaces', workspaces: ['a\nb'] }, 'bounds', 'workspaces.0'],
  [{ kind: 'dispatched', receipt: { operation: 'task.create', reference: id } }, 'accepted'],
  [
    { kind: 'dispatched', receipt: { operation: 'task.create', reference: 'task-1' } },
    'malformed',
    'receipt.reference',
  ],
  [{ kind: 'dispatched', receipt: { reference: id } }, 'malformed', 'receipt.operation'],
  [{ kind: 'queue', queue }, 'accepted'],
  [{ kind: 'queue', queue: { ...queue, items: many(65, held) } }, 'bounds', 'queue.items'],
  [{ kind: 'queue', queue: { ...queue, lease: { device: phone } } }, 'malformed', 'queue.lease.expires_at'],
  [
    { kind: 'queue', queue: { ...queue, items: [{ ...held, priority: 1 }] } },
    'malformed',
    'queue.items.0.priority',
  ],
  [{ kind: 'tasks', tasks: { items: [item], next: 'cursor' } }, 'accepted'],
  [{ kind: 'tasks', tasks: { items: many(33, item), next: null } }, 'bounds', 'tasks.items'],
  [
    { kind: 'tasks', tasks: { items: [{ ...item, status: 'paused' }], next: null } },
    'malformed',
    'tasks.items.0.status',
  ],
  [
    { kind: 'tasks', tasks: { items: [{ ...item, path: '/srv' }], next: null } },
    'malformed',
    'tasks.items.0.path',
  ],
  [{ kind: 'task', task: detail }, 'accepted'],
  [{ kind: 'task', task: { ...detail, steps: many(33, step) } }, 'bounds', 'task.steps'],
  [
    { kind: 'task', task: { ...detail, steps: [{ ...step, raw_bytes: [1] }] } },
    'malformed',
    'task.steps.0.raw_bytes',
  ],
  [{ kind: 'started' }, 'malformed', 'kind'],
  [{}, 'malformed', 'kind'],
]

describe('the outcome of a reply', () => {
  it.each(cases)('%#: %j', async (outcome, code, field) => {
    const body = { ...validBody('reply_conflict'), result: { status: 'ok', outcome } }
    if (code === 'accepted') {
      expect(jcs(parseBody('reply', body, 'production'))).toBe(jcs(body))
      return
    }
    const refusal = await refused(code, () => parseBody('reply', body, 'production'))
    expect(refusal.field).toBe(`result.outcome.${field}`)
  })
})
