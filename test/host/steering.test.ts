import { describe, expect, it } from 'vitest'
import { admitSteer, type SteeringRow, steeringRow } from '../../src/host/steering.ts'

const row = (native: SteeringRow['native'], emulation: SteeringRow['emulation']): SteeringRow => ({
  adapter: 'x',
  native,
  emulation,
  acknowledgment: 'none',
  limitations: [],
})

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

describe('admitting a steer', () => {
  it.each([
    ['mid_turn', null, 'ended', 'native', 'new_turn'],
    ['mid_turn', null, 'running', 'native', 'deliver'],
    ['mid_turn', null, 'running', 'emulated', 'no_emulation'],
    ['mid_turn', 'cancel_and_continue', 'running', 'emulated', 'cancel_and_continue'],
    ['turn_boundary', null, 'ended', 'emulated', 'new_turn'],
    ['turn_boundary', 'cancel_and_continue', 'running', 'native', 'unsupported'],
    ['turn_boundary', 'cancel_and_continue', 'running', 'emulated', 'cancel_and_continue'],
    ['turn_boundary', null, 'running', 'emulated', 'no_emulation'],
    ['unsupported', null, 'ended', 'native', 'unsupported'],
    ['unsupported', null, 'ended', 'emulated', 'unsupported'],
    ['unsupported', null, 'running', 'native', 'unsupported'],
    ['unsupported', null, 'running', 'emulated', 'no_emulation'],
    ['unsupported', 'cancel_and_continue', 'running', 'emulated', 'cancel_and_continue'],
  ] as const)('%s (emulation %s), turn %s, %s: %s', (native, emulation, turn, request, expected) => {
    const answer = admitSteer(row(native, emulation), turn, request)
    expect(answer.admit === 'refuse' ? answer.reason : answer.admit).toBe(expected)
  })
})
