import { describe, expect, it } from 'vitest'
import { parseBody } from '../../src/protocol/body.ts'
import { operationRows, operationSchema, outcomeAnswers, rightOf } from '../../src/protocol/operations.ts'
import { outcomeSchema } from '../../src/protocol/outcomes.ts'
import type { WireCode } from '../../src/protocol/refusal.ts'
import { hostFixtures, requestWith } from '../support/host-fixtures.ts'
import { refused } from '../support/refusals.ts'

const id = '7a'.repeat(32)
const short = '3c'.repeat(16)
const device = hostFixtures.keys.tablet
const digest = `sha256:${'ab'.repeat(32)}`
const kib = 1_024

const command = {
  command: id,
  task: id,
  action: 'send',
  based_on: 3,
  text: 'go',
  emulate: false,
  issued_at: 5,
}
const ofCommand = (changes: object) => ({ kind: 'task.command', command: { ...command, ...changes } })
const task = { title: 'T', prompt: 'P', workspace: 'site' }
const ofTask = (changes: object) => ({ kind: 'task.create', task: { ...task, ...changes } })
const ofEdit = (edit: object) => ({ kind: 'task.queue', task: id, edit })
const list = { workspace: 'site', cursor: null, limit: 20 }
const ofList = (changes: object) => ({ kind: 'task.list', query: { ...list, ...changes } })
const ofRead = (changes: object) => ({
  kind: 'task.read',
  query: { ...list, task: id, revision: null, ...changes },
})
const approve = {
  kind: 'enroll.approve',
  enrollment: id,
  request_digest: digest,
  code: '8H2KZT0V',
  device,
  rights: ['observe'],
  grant_expires_at: 9,
}
const commands = (count: number) =>
  Array.from({ length: count }, (_, index) => index.toString(16).padStart(64, '0'))

type Case = [op: Record<string, unknown>, code: WireCode | 'accepted', field?: string]

const cases: Case[] = [
  [{ kind: 'enroll.redeem', invitation: id, capability: id }, 'malformed', 'grant'],
  [{ kind: 'enroll.approve' }, 'malformed', 'op.enrollment'],
  [approve, 'accepted'],
  [{ ...approve, code: 'c'.repeat(32) }, 'accepted'],
  [{ ...approve, code: 'c'.repeat(33) }, 'bounds', 'op.code'],
  [{ ...approve, code: '' }, 'bounds', 'op.code'],
  [{ ...approve, code: 'A\tB' }, 'bounds', 'op.code'],
  [{ ...approve, code: 'Ä' }, 'malformed', 'op.code'],
  [{ ...approve, request_digest: 'ab'.repeat(32) }, 'malformed', 'op.request_digest'],
  [{ ...approve, device: 'f'.repeat(64) }, 'malformed', 'op.device'],
  [{ ...approve, rights: ['operate', 'observe'] }, 'malformed', 'op.rights'],
  [{ kind: 'enroll.deny', enrollment: id, request_digest: digest }, 'accepted'],
  [{ kind: 'invite.create', rights: [], grant_expires_at: 9 }, 'malformed', 'op.rights'],
  [{ kind: 'invite.create', rights: ['observe'], grant_expires_at: '9' }, 'malformed', 'op.grant_expires_at'],
  [{ kind: 'invite.cancel', invitation: id.toUpperCase() }, 'malformed', 'op.invitation'],
  [{ kind: 'device.revoke', device }, 'accepted'],
  [{ kind: 'device.revoke', device: '0'.repeat(64) }, 'malformed', 'op.device'],
  [{ kind: 'workspace.list', all: true }, 'malformed', 'op.all'],
  [ofTask({ title: 't'.repeat(200) }), 'accepted'],
  [ofTask({ title: 't'.repeat(201) }), 'bounds', 'op.task.title'],
  [ofTask({ title: '' }), 'bounds', 'op.task.title'],
  [ofTask({ title: 'a\u0085b' }), 'bounds', 'op.task.title'],
  [ofTask({ title: 'a\tb' }), 'bounds', 'op.task.title'],
  [ofTask({ title: ' ' }), 'bounds', 'op.task.title'],
  [ofTask({ title: 3 }), 'malformed', 'op.task.title'],
  [ofTask({ prompt: 'p'.repeat(16 * kib) }), 'accepted'],
  [ofTask({ prompt: 'p'.repeat(16 * kib + 1) }), 'bounds', 'op.task.prompt'],
  [ofTask({ prompt: '€'.repeat(5_462) }), 'bounds', 'op.task.prompt'],
  [ofTask({ prompt: '\u2003\n' }), 'bounds', 'op.task.prompt'],
  [ofTask({ workspace: 'w'.repeat(128) }), 'accepted'],
  [ofTask({ workspace: 'w'.repeat(129) }), 'bounds', 'op.task.workspace'],
  [ofTask({ branch: 'main' }), 'malformed', 'op.task.branch'],
  [{ kind: 'task.steer', task: id, revision: 1, prompt: 'p'.repeat(16 * kib) }, 'accepted'],
  [{ kind: 'task.steer', task: id, revision: 1, prompt: 'p'.repeat(16 * kib + 1) }, 'bounds', 'op.prompt'],
  [{ kind: 'task.steer', task: id, revision: 1, prompt: ' ' }, 'bounds', 'op.prompt'],
  [{ kind: 'task.steer', task: id, revision: null, prompt: 'p' }, 'malformed', 'op.revision'],
  [{ kind: 'task.steer', task: id, revision: -1, prompt: 'p' }, 'malformed', 'op.revision'],
  [{ kind: 'task.cancel', task: id, revision: 1, reason: 'r'.repeat(512) }, 'accepted'],
  [{ kind: 'task.cancel', task: id, revision: 1, reason: 'r'.repeat(513) }, 'bounds', 'op.reason'],
  [{ kind: 'task.cancel', task: id, revision: 1, reason: 'a\nb' }, 'bounds', 'op.reason'],
  [{ kind: 'task.archive', task: 'task-1' }, 'malformed', 'op.task'],
  [ofCommand({}), 'accepted'],
  [ofCommand({ action: 'stop' }), 'malformed', 'op.command.action'],
  [ofCommand({ action: 'steer', emulate: true }), 'accepted'],
  [ofCommand({ action: 'queue', emulate: true }), 'malformed', 'op.command.emulate'],
  [ofCommand({ action: 'interrupt', emulate: true }), 'malformed', 'op.command.emulate'],
  [ofCommand({ action: 'answer', emulate: true }), 'malformed', 'op.command.emulate'],
  [ofCommand({ emulate: null }), 'malformed', 'op.command.emulate'],
  [ofCommand({ text: 't'.repeat(16 * kib) }), 'accepted'],
  [ofCommand({ text: 't'.repeat(16 * kib + 1) }), 'bounds', 'op.command.text'],
  [ofCommand({ text: '' }), 'bounds', 'op.command.text'],
  [ofCommand({ text: 'two\nlines \u0007' }), 'accepted'],
  [ofCommand({ action: 'interrupt', text: 'r'.repeat(512) }), 'accepted'],
  [ofCommand({ action: 'interrupt', text: 'r'.repeat(513) }), 'bounds', 'op.command.text'],
  [ofCommand({ based_on: -1 }), 'malformed', 'op.command.based_on'],
  [ofCommand({ based_on: 0 }), 'accepted'],
  [ofCommand({ issued_at: 2 ** 53 }), 'malformed', 'op.command.issued_at'],
  [ofEdit({ action: 'edit', command: id, text: 't'.repeat(16 * kib + 1) }), 'bounds', 'op.edit.text'],
  [ofEdit({ action: 'edit', command: id }), 'malformed', 'op.edit.text'],
  [ofEdit({ action: 'list', command: id }), 'malformed', 'op.edit.command'],
  [ofEdit({ action: 'reorder', commands: commands(64) }), 'accepted'],
  [ofEdit({ action: 'reorder', commands: commands(65) }), 'bounds', 'op.edit.commands'],
  [
    ofEdit({ action: 'reorder', commands: [...commands(65), ...commands(1)] }),
    'malformed',
    'op.edit.commands',
  ],
  [ofEdit({}), 'malformed', 'op.edit.action'],
  [ofList({ limit: 1 }), 'accepted'],
  [ofList({ limit: 32, cursor: 'next' }), 'accepted'],
  [ofList({ limit: 0 }), 'bounds', 'op.query.limit'],
  [ofList({ limit: 33 }), 'bounds', 'op.query.limit'],
  [ofList({ limit: 1.5 }), 'malformed', 'op.query.limit'],
  [ofList({ cursor: 'c'.repeat(1_025) }), 'bounds', 'op.query.cursor'],
  [ofList({ task: id }), 'malformed', 'op.query.task'],
  [ofRead({}), 'accepted'],
  [ofRead({ revision: 4 }), 'accepted'],
  [ofRead({ limit: 33 }), 'bounds', 'op.query.limit'],
  [ofRead({ task: null }), 'malformed', 'op.query.task'],
  [{ kind: 'terminal.open', cols: 1_000, rows: 1 }, 'accepted'],
  [{ kind: 'terminal.open', cols: 1_001, rows: 1 }, 'bounds', 'op.cols'],
  [{ kind: 'terminal.open', cols: 80, rows: 0 }, 'bounds', 'op.rows'],
  [{ kind: 'thread.read', thread: short, before: null }, 'accepted'],
  [{ kind: 'thread.read', thread: short, before: -4 }, 'accepted'],
  [{ kind: 'thread.read', thread: id, before: 4 }, 'malformed', 'op.thread'],
  [{ kind: 'thread.read', thread: short }, 'malformed', 'op.before'],
  [{ kind: 'thread.send', thread: short, request: short, text: 't'.repeat(32 * kib) }, 'accepted'],
  [
    { kind: 'thread.send', thread: short, request: short, text: 't'.repeat(32 * kib + 1) },
    'bounds',
    'op.text',
  ],
  [{ kind: 'thread.send', thread: short, request: null, text: 't' }, 'malformed', 'op.request'],
  [{ kind: 'thread.stop', thread: short, request: null }, 'accepted'],
  [{ kind: 'thread.run', thread: short }, 'accepted'],
  [{ kind: 'spend.list', grant: { anything: [1, { goes: null }] } }, 'accepted'],
  [{ kind: 'spend.list', grant: 'opaque' }, 'malformed', 'op.grant'],
  [{ kind: 'spend.settle', receipt: {} }, 'accepted'],
  [{ kind: 'spend.settle', receipt: [] }, 'malformed', 'op.receipt'],
  [{ kind: 'spend.settle', receipt: null }, 'malformed', 'op.receipt'],
]

describe('an operation', () => {
  it.each(cases.map(([op, code, field]) => ({ op, shown: shown(op), code, field })))(
    '$shown is $code',
    async ({ op, code, field }) => {
      const body = requestWith(op)
      if (code === 'accepted') {
        expect(parseBody('request', body, 'production').op).toEqual(op)
        return
      }
      const refusal = await refused(code, () => parseBody('request', body, 'production'))
      expect(refusal.field).toBe(field)
    },
  )
})

describe('the operations table', () => {
  it('has a row for every operation, and no other', () => {
    const kinds = operationSchema.options.map((option) => option.shape.kind.value)
    expect(Object.keys(operationRows).sort()).toEqual([...kinds].sort())
    expect(kinds).toHaveLength(25)
  })

  it.each([
    ['access_admin', ['enroll.approve', 'enroll.deny', 'invite.create', 'invite.cancel', 'device.revoke']],
    ['access_read', ['device.list']],
    ['observe', ['task.list', 'task.read', 'chats.invite', 'thread.list', 'thread.read']],
    ['terminal', ['terminal.open']],
    [
      'operate',
      [
        ...[
          'workspace.list',
          'task.create',
          'task.steer',
          'task.cancel',
          'task.archive',
          'task.command',
          'task.queue',
        ],
        ...['thread.send', 'thread.stop', 'thread.run', 'spend.list', 'spend.settle'],
      ],
    ],
    [null, ['enroll.redeem']],
  ])('asks %s of exactly its operations', (right, kinds) => {
    const found = Object.entries(operationRows).filter(([, row]) => row.right === right)
    expect(found.map(([kind]) => kind).sort()).toEqual([...kinds].sort())
  })

  it('names an outcome of the outcome schemas for all but what this host refuses', () => {
    const known = outcomeSchema.options.map((option) => option.shape.kind.value)
    const named = Object.values(operationRows).flatMap((row) => (row.outcome === null ? [] : [row.outcome]))
    expect(new Set(named)).toEqual(new Set(known))
    const refusedHere = Object.entries(operationRows).filter(([, row]) => row.outcome === null)
    expect(refusedHere.every(([kind]) => /^(terminal|chats|thread|spend)\./.test(kind))).toBe(true)
    expect(refusedHere).toHaveLength(9)
  })

  it('says which outcome answers which operation', () => {
    expect(outcomeAnswers('task.command', 'dispatched')).toBe(true)
    expect(outcomeAnswers('task.command', 'queue')).toBe(false)
    expect(outcomeAnswers('thread.list', 'tasks')).toBe(false)
    expect(rightOf({ kind: 'device.list' })).toBe('access_read')
  })

  it('keeps no reply of task reads and of threads', () => {
    const fleeting = Object.entries(operationRows).filter(([, row]) => !row.retained)
    expect(fleeting.map(([kind]) => kind).sort()).toEqual(
      [
        'task.list',
        'task.read',
        'thread.list',
        'thread.read',
        'thread.run',
        'thread.send',
        'thread.stop',
      ].sort(),
    )
  })
})

function shown(op: object): string {
  return JSON.stringify(op)
    .replace(/(.)\1{9,}/g, (run, character: string) => `${character}×${run.length}`)
    .slice(0, 150)
}
