import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRefusal } from '../../../src/protocol/refusal.ts'
import { parseTaskCommand } from '../../../src/store/tasks/command.ts'
import { intentDigest } from '../../../src/store/tasks/intent.ts'
import { refused } from '../../support/refusals.ts'
import { bytes, intent } from './samples.ts'

const submitted = {
  schema: 'openagents.coder.task-command.v1',
  command_id: 'cmd-1',
  task_id: 'task-1',
  expected_revision: null as number | null,
  action: { type: 'submit', intent } as Record<string, unknown>,
}
const cancelling = { ...submitted, expected_revision: 3, action: { type: 'cancel', reason: 'stop' } }
const withIntent = (changes: Record<string, unknown>) => ({
  ...submitted,
  action: { type: 'submit', intent: { ...intent, ...changes } },
})
const withAction = (action: Record<string, unknown>) => ({ ...submitted, expected_revision: 3, action })

describe('a store command', () => {
  it.each([
    ['a submit', submitted],
    [
      'a submit whose nullable fields are absent',
      {
        schema: submitted.schema,
        command_id: 'cmd-1',
        task_id: 'task-1',
        action: {
          type: 'submit',
          intent: { ...intent, workspace: { path: '/a' }, configuration: { adapter: 'bounded-command' } },
        },
      },
    ],
    ['a submit with an empty list of images', withIntent({ images: [] })],
    [
      'a submit with a revision of 40 digits',
      withIntent({ workspace: { path: '/a', source_revision: 'a'.repeat(40) } }),
    ],
    [
      'a submit with a revision of 64 digits',
      withIntent({ workspace: { path: '/a', source_revision: '0'.repeat(64) } }),
    ],
    [
      'a submit with a model that has slashes',
      withIntent({ configuration: { adapter: 'acp-agent', model: 'maker/model-1.2' } }),
    ],
    ['a title of 256 bytes', withIntent({ title: 'é'.repeat(128) })],
    ['a prompt of 32,768 bytes', withIntent({ prompt: 'x'.repeat(32_768) })],
    ['a prompt with lines and tabs', withIntent({ prompt: 'a\n\tb\r\n' })],
    ['a cancel', cancelling],
    ['a correct', withAction({ type: 'correct', prompt: 'p', reason: 'r' })],
    ['a continue', withAction({ type: 'continue', prompt: 'p' })],
    ['identifiers of 128 bytes', { ...cancelling, command_id: 'c'.repeat(128), task_id: '9'.repeat(128) }],
  ])('accepts %s', (_name, value) => {
    expect(parseTaskCommand(bytes(value)).task_id).toBe(value.task_id)
  })

  const bad: [string, unknown][] = [
    ['no JSON', '{'],
    ['a list', []],
    ['a byte order mark', `\ufeff${JSON.stringify(submitted)}`],
    ['a duplicate key', `{"schema":"a",${JSON.stringify(submitted).slice(1)}`],
    ['a key that is a prototype', `{"__proto__":{},${JSON.stringify(submitted).slice(1)}`],
    ['a revision written as a fraction', JSON.stringify(cancelling).replace(':3,', ':3.0,')],
    ['an unknown field', { ...submitted, note: 'x' }],
    ['an unknown field of the action', withAction({ type: 'continue', prompt: 'p', reason: 'r' })],
    ['an unknown field of the intent', withIntent({ priority: 1 })],
    ['an unknown field of the workspace', withIntent({ workspace: { path: '/a', branch: 'x' } })],
    ['an unknown action', withAction({ type: 'resume' })],
    ['a missing command id', { ...submitted, command_id: undefined }],
    ['a command id that equals the task id', { ...submitted, command_id: 'task-1' }],
    ['an empty task id', { ...submitted, task_id: '' }],
    ['a task id that begins with a dot', { ...submitted, task_id: '.task' }],
    ['a task id with a slash', { ...submitted, task_id: 'a/b' }],
    ['a command id of 129 bytes', { ...submitted, command_id: 'c'.repeat(129) }],
    ['a submit with a revision', { ...submitted, expected_revision: 1 }],
    ['a cancel without a revision', { ...cancelling, expected_revision: null }],
    ['a revision that is text', { ...cancelling, expected_revision: '3' }],
    ['a blank title', withIntent({ title: ' \u2003' })],
    ['a title of two lines', withIntent({ title: 'a\nb' })],
    ['a title of 257 bytes', withIntent({ title: `${'é'.repeat(128)}x` })],
    ['a blank prompt', withIntent({ prompt: '\n' })],
    ['a prompt of 32,769 bytes', withIntent({ prompt: 'x'.repeat(32_769) })],
    ['a prompt with a control character', withIntent({ prompt: 'a\u0085b' })],
    ['a relative workspace', withIntent({ workspace: { path: 'srv' } })],
    ['a workspace with ..', withIntent({ workspace: { path: '/srv/../etc' } })],
    ['a workspace with .', withIntent({ workspace: { path: '/srv/./a' } })],
    ['a short revision', withIntent({ workspace: { path: '/a', source_revision: 'abc123' } })],
    ['a revision in upper case', withIntent({ workspace: { path: '/a', source_revision: 'A'.repeat(40) } })],
    ['an adapter with a slash', withIntent({ configuration: { adapter: 'a/b' } })],
    ['a model that begins with a slash', withIntent({ configuration: { adapter: 'a', model: '/b' } })],
    ['images', withIntent({ images: ['x'] })],
    ['a blank reason', withAction({ type: 'cancel', reason: ' ' })],
    ['a reason of 2,049 bytes', withAction({ type: 'cancel', reason: 'x'.repeat(2_049) })],
    ['a blank correction', withAction({ type: 'correct', prompt: '', reason: 'r' })],
    ['a continuation of 32,769 bytes', withAction({ type: 'continue', prompt: 'x'.repeat(32_769) })],
  ]
  it.each(bad)('refuses invalid_command for %s', async (_name, value) => {
    await refused('invalid_command', () => parseTaskCommand(bytes(value)))
  })

  it('refuses limit_exceeded past 64 KiB, white space included, before it is read', async () => {
    const text = JSON.stringify(submitted)
    expect(parseTaskCommand(bytes(text.padEnd(65_536))).command_id).toBe('cmd-1')
    await refused('limit_exceeded', () => parseTaskCommand(bytes(text.padEnd(65_537))))
    await refused('limit_exceeded', () => parseTaskCommand(new Uint8Array(65_537)))
  })

  it('refuses unsupported_schema after the shape and before the identities', async () => {
    const other = { ...submitted, schema: 'openagents.coder.task-command.v2' }
    await refused('unsupported_schema', () => parseTaskCommand(bytes(other)))
    await refused('unsupported_schema', () => parseTaskCommand(bytes({ ...other, task_id: '/' })))
    await refused('invalid_command', () => parseTaskCommand(bytes({ ...other, extra: 1 })))
  })

  it('refuses, and never throws anything else, for any JSON at all', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        try {
          parseTaskCommand(bytes(text))
          return false
        } catch (error) {
          return isRefusal(error, 'invalid_command')
        }
      }),
    )
  })
})

describe('the digest of an intent', () => {
  it('is that of its compact form in the order of the fields', () => {
    expect(intentDigest(intent)).toBe(
      'sha256:3f593e2a0f348585c33a1d2317724b9849bea6bb6e5291c09017d7b7f7b66c78',
    )
  })

  it('does not depend on the order or the white space of the command', () => {
    const shuffled = `{ "action" : {"intent":{"configuration":{"model":null,"adapter":"bounded-command"},
      "workspace":{"source_revision":null,"path":"/srv/work/demo"},"images":[],
      "prompt":"Sort the entries.\\nKeep dates.","title":"Tidy the changelog"},"type":"submit"},
      "task_id":"task-1","command_id":"cmd-1","schema":"openagents.coder.task-command.v1"}`
    const { action } = parseTaskCommand(bytes(shuffled))
    expect(action.type === 'submit' && intentDigest(action.intent)).toBe(intentDigest(intent))
  })
})
