import { chmod, link, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { outputStep, promptStep } from '../../../src/host/trace/run-steps.ts'
import { readView } from '../../../src/host/trace/view.ts'
import type { ViewCursor } from '../../../src/host/trace/view-cursor.ts'
import { createTrace } from '../../../src/host/trace/writer.ts'
import { traceBytesMax } from '../../../src/limits.ts'
import { sha256Digest } from '../../../src/protocol/digest.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { realDisk } from '../../../src/store/disk.ts'
import type { RunResult } from '../../../src/store/tasks/task.ts'
import { abandonedRun, type HostStage, hostStage } from '../../support/host-stage.ts'

let stage: HostStage
let path: string

beforeEach(async () => {
  stage = await hostStage()
  await stage.submit('task-1', '/srv/w')
  path = `${stage.storeDir}/task-1.1.atif.jsonl`
})

const view = (limit = 100, cursor: ViewCursor | null = null) =>
  readView(realDisk, stage.tasks, 'task-1', { limit, cursor })

/** A run with a trace of `count` steps, and its result when `sealed`. */
async function ran(count: number, { ended = true, sealed = true } = {}): Promise<void> {
  await abandonedRun(stage, 'task-1', '/srv/w', null)
  const session = {
    id: 'task-1-1',
    model: 'none',
    door: 'bounded-command',
    repository: '/srv/w',
    version: '0',
  }
  const trace = await createTrace(realDisk, systemClock, path, {
    ...session,
    directive: '',
    state: '',
    seconds: 0,
  })
  await trace.step(promptStep('Sort the entries.'))
  for (let n = 1; n < count; n += 1) {
    await trace.step(outputStep({ bytes: Uint8Array.of(0x61), offset: n - 1, gaps: [] }))
  }
  if (ended) await trace.end()
  await trace.close()
  if (sealed) await seal({})
}

async function seal(over: Partial<RunResult>): Promise<void> {
  const lock = await stage.ownerLock('task-1')
  const result: RunResult = {
    ending: 'exit 0',
    exit_code: 0,
    stop_requested: false,
    group_clear: true,
    elapsed_ms: 5,
    trace_digest: sha256Digest(await readFile(path)),
    candidate_snapshot: null,
    artifact_file: null,
    artifact_digest: null,
    output_incomplete: false,
    cost_status: 'unknown',
    ...over,
  }
  await stage.tasks.record('task-1', { type: 'result', result }, 1, lock)
  await lock.release()
}

describe('a view', () => {
  it('has every key, in order, before there is a run', async () => {
    const found = await view()
    expect(Object.keys(found)).toEqual([
      'schema',
      'task',
      'evidence',
      'artifacts',
      'artifact_error',
      'artifact_faults',
      'verification',
      'integration',
      'cost_usd',
      'cost_status',
    ])
    expect(found).toMatchObject({
      schema: 'openagents.coder.task-view.v1',
      artifacts: null,
      artifact_error: null,
      artifact_faults: [],
      verification: 'not_run',
      integration: 'not_attempted',
      cost_usd: null,
      cost_status: 'unknown',
    })
    expect(found.evidence).toEqual({
      state: 'not_started',
      trace_file: null,
      digest: null,
      matches_result: null,
      faults: [],
      total_steps: 0,
      next: null,
      more_available: false,
      steps: [],
    })
  })

  it.each([0, 201, 1.5, Number.NaN])('refuses a limit of %s', async (limit) => {
    await expect(view(limit)).rejects.toMatchObject({ code: 'invalid_command' })
  })

  it('says what a run cost', async () => {
    await ran(1, { sealed: false })
    await seal({ cost_status: 'priced', cost_microusd: 30, engine_microusd: 20, jev_microusd: 10 })
    expect(await view()).toMatchObject({ cost_usd: 0.00003, cost_status: 'priced' })
  })

  it('does not fail for artifacts that cannot be read', async () => {
    await ran(1, { sealed: false })
    const hex = '3'.repeat(64)
    await seal({ artifact_file: `manifest-${hex}.json`, artifact_digest: `sha256:${hex}` })
    const found = await view()
    expect(found.artifacts).toBeNull()
    expect(found.artifact_error).not.toBeNull()
    expect(found.evidence.state).toBe('sealed')
  })
})

describe('the state of the evidence', () => {
  it.each<[string, () => Promise<void>]>([
    ['missing', async () => rm(path)],
    [
      'unavailable_or_unsafe',
      async () => {
        await rename(path, `${path}.real`)
        await symlink(`${path}.real`, path)
      },
    ],
    ['unavailable_or_unsafe', async () => link(path, `${path}.other`)],
    ['unavailable_or_unsafe', async () => chmod(path, 0o644)],
    ['oversized', async () => truncate(path, traceBytesMax + 1)],
    ['malformed', async () => writeFile(path, '{}\n')],
    ['malformed', async () => writeFile(path, '')],
    ['digest_mismatch', async () => writeFile(path, (await readFile(path, 'utf8')).replace('Sort', 'Spot'))],
  ])('is %s', async (state, spoil) => {
    await ran(3)
    await spoil()
    const { evidence } = await view()
    expect(evidence.state).toBe(state)
    if (state === 'digest_mismatch') expect(evidence).toMatchObject({ matches_result: false, total_steps: 3 })
    else expect(evidence).toMatchObject({ digest: null, matches_result: null, next: null, steps: [] })
  })

  it('is sealed for an untouched run with a result', async () => {
    await ran(3)
    expect((await view()).evidence).toMatchObject({ state: 'sealed', matches_result: true, total_steps: 3 })
  })

  it('is unsealed without a result, and gives null for whether they match', async () => {
    await ran(3, { sealed: false })
    expect((await view()).evidence).toMatchObject({ state: 'unsealed', matches_result: null, total_steps: 3 })
  })

  it('is incomplete without an end, also when the result matches', async () => {
    await ran(3, { ended: false, sealed: false })
    expect((await view()).evidence).toMatchObject({ state: 'incomplete', matches_result: null })
    await seal({})
    expect((await view()).evidence).toMatchObject({
      state: 'incomplete',
      matches_result: true,
      total_steps: 3,
    })
  })

  it('is damaged by any fault, and what can be recovered is still given', async () => {
    await ran(3, { sealed: false })
    await writeFile(path, `${await readFile(path, 'utf8')}{"record":"step"`)
    expect((await view()).evidence).toMatchObject({
      state: 'damaged',
      faults: [{ line: 6, kind: 'torn' }],
      total_steps: 3,
    })
  })
})

describe('paging through a view', () => {
  it('gives every step once, and goes on when more were appended', async () => {
    await ran(5, { ended: false, sealed: false })
    const first = (await view(2)).evidence
    expect(first.steps.map(({ step_id }) => step_id)).toEqual([1, 2])
    expect(first.more_available).toBe(true)
    const second = (await view(200, first.next)).evidence
    expect(second.steps.map(({ step_id }) => step_id)).toEqual([3, 4, 5])
    expect(second.more_available).toBe(false)
    const nothing = (await view(200, second.next)).evidence
    expect(nothing).toMatchObject({ steps: [], more_available: false, next: second.next })
    const step = { record: 'step', step: { at: 1, source: 'System', message: 'more' } }
    await writeFile(path, `${await readFile(path, 'utf8')}${JSON.stringify(step)}\n`)
    expect((await view(200, second.next)).evidence.steps).toMatchObject([{ step_id: 6, message: 'more' }])
  })

  it.each<[string, (cursor: ViewCursor) => ViewCursor]>([
    ['another task', (cursor) => ({ ...cursor, task_id: 'task-2' })],
    ['another intent', (cursor) => ({ ...cursor, intent_digest: 'sha256:x' })],
    ['another turn', (cursor) => ({ ...cursor, trace_file: 'task-1.2.atif.jsonl' })],
    ['a place past the end', (cursor) => ({ ...cursor, next_step: 4 })],
    ['another place', (cursor) => ({ ...cursor, next_step: 2 })],
    ['another prefix', (cursor) => ({ ...cursor, prefix_digest: 'sha256:x' })],
  ])('refuses a cursor of %s', async (_name, change) => {
    await ran(3)
    const { next } = (await view(1)).evidence
    if (next === null) throw new Error('a read trace has a cursor')
    await expect(view(1, change(next))).rejects.toMatchObject({ code: 'command_conflict' })
  })

  it('refuses any cursor once a new turn waits, and ignores one when nothing was read', async () => {
    await ran(3)
    const { next } = (await view(1)).evidence
    await rm(path)
    expect((await view(1, next)).evidence.state).toBe('missing')
    await stage.act('task-1', { type: 'continue', prompt: 'Again.' })
    await expect(view(1, next)).rejects.toMatchObject({ code: 'command_conflict' })
  })
})
