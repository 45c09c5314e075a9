import { describe, expect, it } from 'vitest'
import { parseTaskCommand } from '../../../src/store/tasks/command.ts'
import { applyEvent } from '../../../src/store/tasks/events.ts'
import type { HostEvent } from '../../../src/store/tasks/host-event.ts'
import type { RunResult, Task } from '../../../src/store/tasks/task.ts'
import { applyCommand } from '../../../src/store/tasks/transition.ts'
import { refused } from '../../support/refusals.ts'
import { admitted, cancel, effectIntent, resultEvent, submit, words } from './samples.ts'

const apply = (task: Task | null, command: Uint8Array) => applyCommand(task, parseTaskCommand(command))
const no = (task: Task, event: HostEvent, epoch = 1) =>
  refused('invalid_transition', () => applyEvent(task, event, epoch))
const spawned: HostEvent = { type: 'spawned', process_id: 4_242 }

const queued = apply(null, submit('task-1'))
const running = applyEvent(queued, admitted(queued), 1)
const intended = applyEvent(running, effectIntent(running), 1)
const started = applyEvent(intended, spawned, 1)
const finished = applyEvent(started, resultEvent(), 1)
const stopping = apply(started, cancel('task-1', 4))
const unknown = applyEvent(started, { type: 'owner_lost' }, 2)

describe('effect_intent and spawned', () => {
  it('are stored, in this order, once each', async () => {
    expect(intended.run?.effect_id).toBe('task-1:1:command')
    expect(started.run?.process_id).toBe(4_242)
    expect(started.revision).toBe(4)
    await no(running, spawned)
    await no(intended, effectIntent(intended))
    await no(started, spawned)
  })

  it('refuse another effect, another epoch, no process, and no run', async () => {
    await no(running, { type: 'effect_intent', effect_id: 'task-1:2:command' })
    await no(running, effectIntent(running), 2)
    await no(intended, spawned, 2)
    await no(intended, { type: 'spawned', process_id: 0 })
    await no(queued, effectIntent(queued))
  })

  it('of a task being cancelled: no new effect, but the process of an old one', async () => {
    const cancelledEarly = apply(running, cancel('task-1', 2))
    await no(cancelledEarly, effectIntent(cancelledEarly))
    const cancelledLate = apply(intended, cancel('task-1', 3))
    expect(words(applyEvent(cancelledLate, spawned, 1))).toEqual([
      5,
      'cancel_requested',
      'running',
      'not_run',
    ])
  })
})

describe('result', () => {
  const stopped = { ending: 'stopped by a signal', exit_code: null, stop_requested: true }
  const cases: [string, Task, Partial<RunResult>, string, string][] = [
    ['exit 0', started, {}, 'finished', 'finished'],
    ['exit 1', started, { ending: 'exit 1', exit_code: 1 }, 'finished', 'failed'],
    ['a deadline', started, { ending: 'timed out', exit_code: null }, 'finished', 'failed'],
    ['a requested stop', started, stopped, 'finished', 'stopped'],
    ['exit 0 after a cancel was accepted', stopping, {}, 'finished', 'stopped'],
    ['processes that may live', started, { group_clear: false }, 'unknown', 'unknown'],
    ['processes that may live, after a cancel', stopping, { group_clear: false }, 'unknown', 'unknown'],
  ]
  it.each(cases)('with %s', (_name, task, changes, status, execution) => {
    const after = applyEvent(task, resultEvent(changes), 1)
    expect([after.status, after.execution, after.revision]).toEqual([status, execution, task.revision + 1])
    expect(after.run?.result).toMatchObject(changes)
  })

  it('is recorded once, under the epoch of the run', async () => {
    await no(finished, resultEvent())
    await no(started, resultEvent(), 2)
    await no(queued, resultEvent())
  })

  it('of a lost run is only that its owner process ended, with its group clear', async () => {
    const orphaned = { ending: 'owner_process_ended', exit_code: null }
    await no(unknown, resultEvent(), 2)
    await no(unknown, resultEvent({ ...orphaned, group_clear: false }), 2)
    await no(unknown, resultEvent(orphaned), 1)
    expect(words(applyEvent(unknown, resultEvent(orphaned), 2))).toEqual([6, 'finished', 'failed', 'not_run'])
    await no(started, resultEvent({ ...orphaned, group_clear: false }))
  })

  const inconsistent: [string, Partial<RunResult>][] = [
    ['a trace digest without prefix', { trace_digest: 'e'.repeat(64) }],
    ['a candidate with prefix', { candidate_snapshot: `sha256:${'c'.repeat(64)}` }],
    ['a manifest without digest', { artifact_file: `manifest-${'d'.repeat(64)}.json` }],
    [
      'a manifest of another name',
      {
        artifact_file: `manifest-${'d'.repeat(64)}.json`,
        artifact_digest: `sha256:${'e'.repeat(64)}`,
      },
    ],
    ['a price without parts', { cost_status: 'priced' }],
    [
      'a total that is no sum',
      { cost_status: 'priced', cost_microusd: 4, engine_microusd: 1, jev_microusd: 2 },
    ],
    ['a total of one part', { cost_status: 'partial', cost_microusd: 1, engine_microusd: 1 }],
    ['one part called unknown', { cost_status: 'unknown', engine_microusd: 1 }],
    ['no part called partial', { cost_status: 'partial' }],
  ]
  it.each(inconsistent)('refuses %s', async (_name, changes) => {
    await no(started, resultEvent(changes))
  })

  it.each([
    [{ cost_status: 'priced', cost_microusd: 3, engine_microusd: 1, jev_microusd: 2 }],
    [{ cost_status: 'partial', jev_microusd: 2 }],
    [{ artifact_file: `manifest-${'d'.repeat(64)}.json`, artifact_digest: `sha256:${'d'.repeat(64)}` }],
  ] satisfies [Partial<RunResult>][])('accepts %o', (changes) => {
    expect(applyEvent(started, resultEvent(changes), 1).run?.result).toMatchObject(changes)
  })
})

describe('owner_lost', () => {
  it('leaves a live run unknown at the next epoch, which shuts the stale owner out', async () => {
    expect(words(unknown)).toEqual([5, 'unknown', 'unknown', 'not_run'])
    expect(unknown.run).toMatchObject({ epoch: 2, recovery_reason: 'owner_lost_effects_not_replayed' })
    expect(words(applyEvent(stopping, { type: 'owner_lost' }, 2))).toEqual([
      6,
      'unknown',
      'unknown',
      'not_run',
    ])
    await no(unknown, resultEvent())
  })

  it('refuses the epoch of the run, and a run that has ended', async () => {
    await no(started, { type: 'owner_lost' }, 1)
    await no(started, { type: 'owner_lost' }, 3)
    await no(finished, { type: 'owner_lost' }, 2)
    await no(unknown, { type: 'owner_lost' }, 3)
  })
})

describe('checks', () => {
  it('refuse for a run without requirements, which is every run so far', async () => {
    await no(finished, { type: 'check_intent' })
    await no(started, { type: 'check_intent' })
    await no(finished, {
      type: 'checked',
      report: {
        schema: 'openagents.coder.task-checks.v1',
        requirements_digest: 'r',
        context_digest: 'c',
        candidate_snapshot: null,
        verdict: 'unavailable',
        evidence: null,
        reason: 'none',
      },
    })
  })

  it('whose owner is lost are unavailable at the next epoch', async () => {
    const checking: Task = { ...finished, checks: 'running' }
    const lost = applyEvent(checking, { type: 'check_owner_lost' }, 2)
    expect(words(lost)).toEqual([6, 'finished', 'finished', 'unavailable'])
    expect(lost.run).toMatchObject({ epoch: 2, recovery_reason: 'checker_owner_lost' })
    await no(checking, { type: 'check_owner_lost' }, 1)
    await no(finished, { type: 'check_owner_lost' }, 2)
  })
})
