import { describe, expect, it } from 'vitest'
import { exitCodeOf, facts, refusalText, table } from '../../src/cli/output.ts'
import { Refusal } from '../../src/protocol/refusal.ts'

describe('what the door prints', () => {
  const refusal = new Refusal('conflict', 'the lease is held\nby another', {
    hint: 'Try again later.',
    field: 'op.edit',
  })

  it('a refusal for a person is one line with its code, then what to type next', () => {
    expect(refusalText(refusal, false)).toBe(
      'drawbridge: the lease is held\\x0aby another (conflict)\nTry again later.\n',
    )
  })

  it('a refusal for a program is one line of JSON, with what to do next in its message', () => {
    expect(JSON.parse(refusalText(refusal, true))).toEqual({
      error: {
        code: 'conflict',
        message: 'the lease is held\nby another. Try again later.',
        field: 'op.edit',
      },
    })
    expect(refusalText(refusal, true).trimEnd()).not.toContain('\n')
  })

  it('a bug is called one, and is never a success', () => {
    expect(refusalText(new TypeError('x is not a function'), false)).toContain('(internal)')
    expect(exitCodeOf(new TypeError('x'))).toBe(1)
  })

  it('only a service that is not running exits 69', () => {
    expect(exitCodeOf(new Refusal('not_running', 'no service'))).toBe(69)
    expect(exitCodeOf(new Refusal('usage', 'two keys'))).toBe(64)
    expect(exitCodeOf(refusal)).toBe(1)
  })

  it('columns stay aligned and cells cannot move the cursor', () => {
    const lines = table(
      ['id', 'title'],
      [
        ['a', 'x\u001b[2K'],
        ['abc', 'y'],
      ],
    ).split('\n')
    expect(lines).toEqual(['id   title', 'a    x\\x1b[2K', 'abc  y', ''])
  })

  it('facts are aligned', () => {
    expect(
      facts([
        ['host', 'aa'],
        ['relay', 'ws://x'],
      ]),
    ).toBe('host   aa\nrelay  ws://x\n')
  })
})
