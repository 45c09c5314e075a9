import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bodyBytesMax, envelopeOverheadBytesMax } from '../../src/limits.ts'
import { type Operation, operationRows } from '../../src/protocol/operations.ts'

import { testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { refusal } from '../support/results.ts'

const phone = testKey(13)
const tablet = testKey(14)
const short = '3c'.repeat(16)
const text = (bytes: number) => 't'.repeat(bytes)
/** An opaque object as large as other implementations can seal. */
const opaque = { proof: 'x'.repeat(40_000), nested: [[{ amount: 1 }]] }

const atBudget: Operation[] = [
  { kind: 'terminal.open', cols: 1_000, rows: 1_000 },
  { kind: 'terminal.open', cols: 1, rows: 1 },
  { kind: 'chats.invite' },
  { kind: 'thread.list' },
  { kind: 'thread.read', thread: short, before: null },
  { kind: 'thread.read', thread: short, before: Number.MAX_SAFE_INTEGER },
  { kind: 'thread.send', thread: short, request: short, text: text(32_768) },
  { kind: 'thread.stop', thread: short, request: null },
  { kind: 'thread.run', thread: short },
  { kind: 'spend.list', grant: opaque },
  { kind: 'spend.settle', receipt: opaque },
]
const overBudget: [unknown, string][] = [
  [{ kind: 'terminal.open', cols: 1_001, rows: 1 }, 'bounds'],
  [{ kind: 'terminal.open', cols: 1, rows: 0 }, 'bounds'],
  [{ kind: 'terminal.open', cols: 1 }, 'malformed'],
  [{ kind: 'chats.invite', more: 1 }, 'malformed'],
  [{ kind: 'thread.list', more: 1 }, 'malformed'],
  [{ kind: 'thread.read', thread: `${short}00`, before: null }, 'malformed'],
  [{ kind: 'thread.read', thread: short, before: 1.5 }, 'malformed'],
  [{ kind: 'thread.send', thread: short, request: short, text: text(32_769) }, 'bounds'],
  [{ kind: 'thread.send', thread: short, request: short, text: ' \n' }, 'bounds'],
  [{ kind: 'thread.stop', thread: short }, 'malformed'],
  [{ kind: 'thread.run', thread: short, request: null }, 'malformed'],
  [{ kind: 'spend.list', grant: [] }, 'malformed'],
  [{ kind: 'spend.settle', receipt: null }, 'malformed'],
]

let bridge: QuietBridge
beforeAll(async () => {
  bridge = await quietBridge()
  await bridge.enroll(phone, ['observe', 'operate', 'terminal', 'review', 'access_read', 'access_admin'])
  await bridge.enroll(tablet, ['review'])
})
afterAll(() => bridge.stop())

const ask = async (key: typeof phone, op: unknown) => refusal(await bridge.ask(key, op as Operation))

describe('an operation whose owner this host does not have', () => {
  it.each(atBudget.map((op) => [op.kind, op] as const))(
    '%s within its bounds is unavailable',
    async (_kind, op) => {
      expect(await ask(phone, op)).toBe('unavailable')
    },
  )

  it.each(overBudget.map(([op, code]) => [JSON.stringify(op).slice(0, 70), op, code] as const))(
    '%s is refused before that',
    async (_name, op, code) => {
      expect(await ask(phone, op)).toBe(code)
    },
  )

  it.each(atBudget.map((op) => [op.kind, op] as const))('%s needs its right first', async (kind, op) => {
    expect(await ask(tablet, op)).toBe(`missing_right ${operationRows[kind].right}`)
  })

  it('that is larger than a body may be earns nothing', async () => {
    const question = bridge.sign(phone, { kind: 'thread.list' })
    const large = bridge.retype(
      question,
      (json) => `${json}${' '.repeat(bodyBytesMax + envelopeOverheadBytesMax)}`,
    )
    bridge.deliver(large.event)
    await bridge.untilCounted('bad_envelope')
    expect(bridge.heard(large)).toBe(0)
  })
})

describe('the same event asked again', () => {
  const twice = async (op: Operation) => {
    const question = bridge.sign(phone, op)
    bridge.deliver(question.event)
    await bridge.answers(question)
    bridge.deliver(question.event)
    const answers = await bridge.answers(question, 2)
    return new Set(answers.map(({ id }) => id)).size
  }

  it.each([
    { kind: 'thread.list' },
    { kind: 'thread.run', thread: short },
    { kind: 'task.list', query: { workspace: 'site', cursor: null, limit: 1 } },
    {
      kind: 'task.read',
      query: { workspace: 'site', task: short + short, revision: null, cursor: null, limit: 1 },
    },
  ] as Operation[])('is answered anew where nothing is retained: $kind', async (op) => {
    expect(await twice(op)).toBe(2)
  })

  it.each([
    { kind: 'chats.invite' },
    { kind: 'terminal.open', cols: 1, rows: 1 },
    { kind: 'workspace.list' },
  ] as Operation[])('gets its kept answer where it is retained: $kind', async (op) => {
    expect(await twice(op)).toBe(1)
  })
})
