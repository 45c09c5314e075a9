import { describe, expect, it } from 'vitest'
import { checkTexts } from '../../src/device/text-bounds.ts'
import type { CommandAction } from '../../src/protocol/operations/commands.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'

const id = '7a'.repeat(32)

const create = (changes: { title?: string; prompt?: string; workspace?: string }): Operation => ({
  kind: 'task.create',
  task: { title: 'T', prompt: 'P', workspace: 'demo', ...changes },
})
const command = (action: CommandAction, text: string): Operation => ({
  kind: 'task.command',
  command: { command: id, task: id, action, based_on: 0, text, emulate: false, issued_at: 1 },
})
const edit = (text: string): Operation => ({
  kind: 'task.queue',
  task: id,
  edit: { action: 'edit', command: id, text },
})

describe('a text that the protocol does not carry', () => {
  it.each<[Operation, string, string]>([
    [create({ title: 'é'.repeat(101) }), 'op.task.title', 'the title has 202 bytes, over 200'],
    [create({ title: ' ' }), 'op.task.title', 'the title is empty'],
    [create({ title: 'a\nb' }), 'op.task.title', 'the title has a control character'],
    [create({ title: '\ud800' }), 'op.task.title', 'the title has half of a character'],
    [create({ prompt: 'x'.repeat(16_385) }), 'op.task.prompt', 'the prompt has 16385 bytes, over 16384'],
    [create({ prompt: '' }), 'op.task.prompt', 'the prompt is empty'],
    [
      create({ workspace: 'x'.repeat(129) }),
      'op.task.workspace',
      'the workspace label has 129 bytes, over 128',
    ],
    [command('send', '\n'), 'op.command.text', 'the message is empty'],
    [command('answer', 'x'.repeat(16_385)), 'op.command.text', 'the message has 16385 bytes, over 16384'],
    [command('interrupt', 'x'.repeat(513)), 'op.command.text', 'the reason has 513 bytes, over 512'],
    [command('interrupt', 'a\nb'), 'op.command.text', 'the reason has a control character'],
    [command('queue', 'a\u0007b'), 'op.command.text', 'the message has a control character other'],
    [edit(''), 'op.edit.text', 'the message is empty'],
  ])('is refused with its name, its rule and its number: %#', (op, field, message) => {
    const thrown = thrownBy(() => checkTexts(op))
    expect(isRefusal(thrown, 'bounds')).toBe(true)
    expect(thrown).toMatchObject({ field, message: expect.stringContaining(message) })
  })

  it.each<[Operation]>([
    [create({ title: 'é'.repeat(100), prompt: 'x'.repeat(16_384), workspace: 'x'.repeat(128) })],
    [command('queue', 'a\nb')],
    [command('interrupt', 'x'.repeat(512))],
    [edit('a\tb')],
  ])('is not one at its bound: %#', (op) => {
    expect(() => checkTexts(op)).not.toThrow()
  })
})

function thrownBy(run: () => void): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return null
}
