import { describe, expect, it } from 'vitest'
import { steeringRow } from '../../src/host/steering.ts'

describe('steering rows', () => {
  it.each([
    ['bounded-command', 'turn_boundary', null, 'next_turn_start'],
    ['microcoder-repository', 'turn_boundary', null, 'next_turn_start'],
    ['acp-agent', 'turn_boundary', 'cancel_and_continue', 'next_turn_start'],
    ['devin-acp', 'turn_boundary', 'cancel_and_continue', 'next_turn_start'],
    ['opencode-acp', 'turn_boundary', 'cancel_and_continue', 'next_turn_start'],
    ['grok-acp', 'turn_boundary', 'cancel_and_continue', 'next_turn_start'],
    ['something-else', 'unsupported', null, 'none'],
  ])('%s steers as %s, emulates %s, acknowledges by %s', (adapter, native, emulation, acknowledgment) => {
    expect(steeringRow(adapter)).toMatchObject({ adapter, native, emulation, acknowledgment })
  })
})
