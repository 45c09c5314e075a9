import { describe, expect, it } from 'vitest'
import { parseTaskCommand } from '../../../src/store/tasks/command.ts'
import { captureContext } from '../../../src/store/tasks/context.ts'
import { applyEvent } from '../../../src/store/tasks/events.ts'
import type { HostEvent } from '../../../src/store/tasks/host-event.ts'
import type { Admission, Task } from '../../../src/store/tasks/task.ts'
import { applyCommand } from '../../../src/store/tasks/transition.ts'
import { refused } from '../../support/refusals.ts'
import {
  admissionOf,
  admitted,
  cancel,
  correct,
  effectIntent,
  goOn,
  intent,
  resultEvent,
  submit,
  words,
} from './samples.ts'

const apply = (task: Task | null, command: Uint8Array) => applyCommand(task, parseTaskCommand(command))
const no = (task: Task, event: HostEvent, epoch = 1) =>
  refused('invalid_transition', () => applyEvent(task, event, epoch))
const spawned: HostEvent = { type: 'spawned', process_id: 4_242 }

const queued = apply(null, submit('task-1'))
const running = applyEvent(queued, admitted(queued), 1)
const intended = applyEvent(running, effectIntent(running), 1)
const started = applyEvent(intended, spawned, 1)
const finished = applyEvent(started, resultEvent(), 1)

describe('admitted', () => {
  it('creates a run at epoch 1 with its keys in stored order', () => {
    expect(words(running)).toEqual([2, 'running', 'running', 'not_run'])
    expect(running.run).toEqual({
      epoch: 1,
      admission: admissionOf(queued),
      effect_id: null,
      result: null,
      process_id: null,
      recovery_reason: null,
      check_report: null,
    })
    expect(Object.keys(running)).toEqual([...Object.keys(queued), 'run'])
  })

  it('refuses a second run, another epoch, and a task that is not queued', async () => {
    await no(running, admitted(queued))
    await no(queued, admitted(queued), 2)
    const cancelled = apply(queued, cancel('task-1', 1))
    await no(cancelled, admitted(cancelled))
  })

  const grantOf = (changes: Record<string, unknown>): Partial<Admission> => {
    const other = admissionOf({ ...queued, ...changes })
    return { grant: other.grant, grant_digest: other.grant_digest, grant_request: other.grant_request }
  }
  const unfit: [string, Partial<Admission>][] = [
    ['a grant that does not parse', { grant_request: '{}' }],
    ['a grant whose digest differs', { grant_digest: `sha256:${'0'.repeat(64)}` }],
    [
      'a parsed grant that its text does not give',
      { grant: { ...admissionOf(queued).grant, wall_seconds: 31 } },
    ],
    ['a grant of another task', grantOf({ task_id: 'task-2' })],
    ['a grant of another intent', grantOf({ intent_digest: `sha256:${'0'.repeat(64)}` })],
    ['a grant whose intent digest has no prefix', grantOf({ intent_digest: queued.intent_digest.slice(7) })],
    ['a grant at another revision', grantOf({ revision: 2 })],
    ['another adapter', { adapter: 'acp-agent' }],
    ['an unknown word for the network', { network: 'open' }],
    ['an unknown word for what is read', { read_scope: 'everything' }],
    ['an unknown authority', { authority: 'root' }],
    ['a relative workspace', { workspace: 'srv' }],
    ['a short source revision', { source_revision: 'abc' }],
    ['a source snapshot with prefix', { source_snapshot: `sha256:${'b'.repeat(64)}` }],
    ['a program digest without prefix', { program_digest: 'b'.repeat(64) }],
    ['the trace of another turn', { trace_file: 'task-1.2.atif.jsonl' }],
    ['the context of another revision', { context: captureContext(2, intent.prompt) }],
    ['the context of another prompt', { context: captureContext(1, 'other') }],
  ]
  it.each(unfit)('refuses %s', async (_name, changes) => {
    await no(queued, { type: 'admitted', admission: { ...admissionOf(queued), ...changes } })
  })

  it('refuses a task of another adapter, or with a model, for the bounded command', async () => {
    for (const configuration of [
      { adapter: 'acp-agent', model: null },
      { adapter: 'bounded-command', model: 'm' },
    ]) {
      const task = apply(null, submit('task-1', 'c', { ...intent, configuration }))
      await no(task, {
        type: 'admitted',
        admission: { ...admissionOf(task), adapter: configuration.adapter },
      })
    }
  })

  it('runs a later turn with the corrected prompt', () => {
    const again = apply(apply(finished, goOn('task-1', 5)), correct('task-1', 6))
    const run = applyEvent(again, admitted(again), 1).run
    expect(run?.admission.context.prompt).toBe('prompt 6')
    expect(run?.admission.trace_file).toBe('task-1.2.atif.jsonl')
  })
})
