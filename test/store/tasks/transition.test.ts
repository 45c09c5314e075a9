import { describe, expect, it } from 'vitest'
import { parseTaskCommand } from '../../../src/store/tasks/command.ts'
import { captureContext } from '../../../src/store/tasks/context.ts'
import {
  effectId,
  effectivePrompt,
  isSuperseded,
  sessionId,
  traceFile,
  turnOf,
  turnStart,
  unconsumedSteers,
} from '../../../src/store/tasks/derived.ts'
import type { Run, Task } from '../../../src/store/tasks/task.ts'
import { applyCommand } from '../../../src/store/tasks/transition.ts'
import {
  type CheckState,
  checkStates,
  type TaskStatus,
  taskStatuses,
} from '../../../src/store/tasks/words.ts'
import { refused } from '../../support/refusals.ts'
import { admissionOf, cancel, correct, goOn, intent, submit } from './samples.ts'

const apply = (task: Task | null, bytes: Uint8Array) => applyCommand(task, parseTaskCommand(bytes))
const queued = apply(null, submit('task-1'))

function runOf(task: Task): Run {
  return {
    epoch: 1,
    admission: admissionOf(task),
    effect_id: null,
    result: null,
    process_id: null,
    recovery_reason: null,
    check_report: null,
  }
}

/** A task in any state, with a run unless it is queued or cancelled. */
function taskIn(status: TaskStatus, checks: CheckState = 'not_run'): Task {
  const hasRun = status !== 'queued' && status !== 'cancelled'
  return { ...queued, revision: 5, status, checks, ...(hasRun && { run: runOf(queued) }) }
}

describe('submit', () => {
  it('makes a task at revision 1, with its keys in stored order and none that is not set', () => {
    expect(JSON.stringify(queued)).toBe(
      `{"task_id":"task-1","revision":1,"intent":${JSON.stringify(intent)},` +
        '"intent_digest":"sha256:3f593e2a0f348585c33a1d2317724b9849bea6bb6e5291c09017d7b7f7b66c78",' +
        '"status":"queued","execution":"not_started","checks":"not_run","cancellation_reason":null}',
    )
  })

  it('refuses invalid_transition for a task that exists', async () => {
    await refused('invalid_transition', () => apply(queued, submit('task-1')))
  })
})

describe('every other command', () => {
  it.each([cancel, correct, goOn])(
    'refuses not_found without a task, and a wrong revision before the state',
    async (make) => {
      await refused('not_found', () => apply(null, make('task-1', 1)))
      for (const status of taskStatuses)
        await refused('revision_mismatch', () => apply(taskIn(status), make('task-1', 4)))
    },
  )
})

describe('cancel', () => {
  it.each(taskStatuses)('of a task that is %s', async (status) => {
    const before = taskIn(status)
    if (status !== 'queued' && status !== 'running') {
      await refused('invalid_transition', () => apply(before, cancel('task-1', 5)))
      return
    }
    expect(apply(before, cancel('task-1', 5))).toEqual({
      ...before,
      revision: 6,
      status: status === 'queued' ? 'cancelled' : 'cancel_requested',
      cancellation_reason: 'no longer wanted',
    })
  })
})

describe('correct', () => {
  const cases = taskStatuses.flatMap((status) => checkStates.map((checks) => [status, checks] as const))
  it.each(cases)('of a task that is %s with checks %s', (status, checks) => {
    const before = taskIn(status, checks)
    const hasRun = before.run !== undefined
    expect(apply(before, correct('task-1', 5))).toEqual({
      ...before,
      revision: 6,
      status: status === 'running' ? 'cancel_requested' : status,
      checks: hasRun && checks !== 'running' ? 'disputed' : checks,
      cancellation_reason: status === 'running' ? 'corrected while running' : null,
      corrections: [{ revision: 6, prompt: 'prompt 5', reason: 'scope changed' }],
    })
  })

  it('puts corrections before the run and keeps the earlier ones', () => {
    const twice = apply(apply(taskIn('running'), correct('task-1', 5)), correct('task-1', 6))
    expect(Object.keys(twice)).toEqual([...Object.keys(queued), 'corrections', 'run'])
    expect(twice.corrections?.map(({ revision }) => revision)).toEqual([6, 7])
  })
})

describe('continue', () => {
  const cases = taskStatuses.flatMap((status) => checkStates.map((checks) => [status, checks] as const))
  it.each(cases)('of a task that is %s with checks %s', async (status, checks) => {
    const before = { ...taskIn(status, checks), cancellation_reason: 'why' }
    const ended = status === 'finished' || status === 'cancelled'
    if (!ended || checks === 'running') {
      await refused('invalid_transition', () => apply(before, goOn('task-1', 5)))
      return
    }
    const after = apply(before, goOn('task-1', 5))
    expect(after).toEqual({
      ...queued,
      revision: 6,
      follow_ups: [{ revision: 6, prompt: 'and then 5' }],
      ...(before.run && { earlier: [before.run] }),
    })
    expect('run' in after).toBe(false)
  })

  it('refuses limit_exceeded after turn 64, and not before', async () => {
    const ended = (runs: number): Task => ({
      ...taskIn('finished'),
      earlier: Array.from({ length: runs }, () => runOf(queued)),
    })
    expect(turnOf(apply(ended(62), goOn('task-1', 5)))).toBe(64)
    await refused('limit_exceeded', () => apply(ended(63), goOn('task-1', 5)))
  })
})

describe('what follows from a task', () => {
  const first = { ...taskIn('finished'), execution: 'finished' as const }
  const second = apply(first, goOn('task-1', 5))

  it('numbers turns by the runs before, so that one cancelled before any run keeps its number', () => {
    expect([turnOf(first), turnOf(second)]).toEqual([1, 2])
    expect(turnOf(apply(apply(second, cancel('task-1', 6)), goOn('task-1', 7)))).toBe(2)
    expect([turnStart(first), turnStart(second)]).toEqual([1, 6])
  })

  it('names the trace, its session and the effect by task and turn', () => {
    expect(traceFile(second)).toBe('task-1.2.atif.jsonl')
    expect(sessionId(second)).toBe('task-1-2')
    expect(effectId(second)).toBe('task-1:2:command')
  })

  it('takes the prompt of the newer of the last correction and the last follow-up, else of the intent', () => {
    expect(effectivePrompt(first)).toBe(intent.prompt)
    expect(effectivePrompt(apply(first, correct('task-1', 5)))).toBe('prompt 5')
    expect(effectivePrompt(second)).toBe('and then 5')
    expect(effectivePrompt(apply(second, correct('task-1', 6)))).toBe('prompt 6')
    expect(effectivePrompt(apply(apply(first, correct('task-1', 5)), goOn('task-1', 6)))).toBe('and then 6')
  })

  it('counts a correction as unconsumed until a run is admitted after it', () => {
    expect(unconsumedSteers(first)).toEqual([])
    const corrected = apply(apply(queued, correct('task-1', 1)), correct('task-1', 2))
    expect(unconsumedSteers(corrected).map(({ revision }) => revision)).toEqual([2, 3])
    const run = { ...runOf(queued), admission: { ...admissionOf(queued), context: captureContext(2, 'p') } }
    expect(unconsumedSteers({ ...corrected, run }).map(({ revision }) => revision)).toEqual([3])
    expect(unconsumedSteers({ ...corrected, earlier: [run] }).map(({ revision }) => revision)).toEqual([3])
  })

  it('is superseded when a correction is newer than what the run was admitted with', () => {
    expect(isSuperseded(first)).toBe(false)
    expect(isSuperseded(apply(first, correct('task-1', 5)))).toBe(true)
    expect(isSuperseded(apply(queued, correct('task-1', 1)))).toBe(false)
  })
})
