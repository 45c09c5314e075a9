import { describe, expect, it } from 'vitest'
import { judgeUnadmitted, reviewTurn } from '../../../src/host/autostart/review.ts'
import { ownerActiveMs, ownerAdmissionMs } from '../../../src/limits.ts'
import type { Task } from '../../../src/store/tasks/task.ts'

const turn = { task: 'task-1', start: 1, launches: 1, at: 0, ownerProcess: 42 }
const task = (over: Partial<Task>): Task => ({
  task_id: 'task-1',
  revision: 1,
  intent: {
    title: 't',
    prompt: 'p',
    workspace: { path: '/w', source_revision: null },
    configuration: { adapter: 'bounded-command', model: null },
  },
  intent_digest: 'sha256:x',
  status: 'queued',
  execution: 'not_started',
  checks: 'not_run',
  cancellation_reason: null,
  ...over,
})

describe('reviewing a launched turn', () => {
  it.each<[string, Task | null, boolean, number, string]>([
    ['running', task({ status: 'running' }), false, 0, 'active'],
    ['to be cancelled', task({ status: 'cancel_requested' }), false, 0, 'active'],
    ['queued, its owner young', task({}), true, ownerActiveMs - 1, 'active'],
    ['queued, its owner older', task({}), true, ownerActiveMs, 'idle'],
    ['queued, its owner too old', task({}), true, ownerAdmissionMs, 'unadmitted'],
    ['queued, its owner gone', task({}), false, 0, 'unadmitted'],
    ['finished', task({ status: 'finished', execution: 'failed' }), false, 0, 'ended'],
    ['cancelled', task({ status: 'cancelled' }), true, 0, 'ended'],
    ['unknown without a result', task({ status: 'unknown' }), false, 0, 'idle'],
    ['continued', task({ follow_ups: [{ revision: 3, prompt: 'p' }] }), true, 0, 'ended'],
    ['gone', null, true, 0, 'ended'],
  ])('%s', (_name, found, alive, age, expected) => {
    expect(reviewTurn(turn, found, alive, age).is).toBe(expected)
  })
})

describe('judging a launch that admitted nothing', () => {
  it.each([
    ['io', 1, 'retry'],
    ['io', 2, 'not_started'],
    [null, 1, 'retry'],
    [null, 2, 'not_started'],
    ['invalid_command', 1, 'not_started'],
    ['unsafe_path', 1, 'not_started'],
    ['workspace_busy', 5, 'retry'],
    ['revision_mismatch', 5, 'retry'],
    ['store_busy', 5, 'retry'],
  ])('%s at launch %i: %s', (code, launches, next) => {
    const refusal = code === null ? null : { code, message: 'why' }
    expect(judgeUnadmitted(refusal, launches).next).toBe(next)
  })

  it('never counts a full disk as a launch that failed', () => {
    const full = { code: 'io', message: 'cannot write /x: ENOSPC' }
    expect(judgeUnadmitted(full, 9)).toEqual({ next: 'retry', detail: 'disk_full: cannot write /x: ENOSPC' })
  })
})
