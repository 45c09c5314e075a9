import { writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { readEvidence } from '../../../src/host/trace/evidence.ts'
import { readTurnTrace } from '../../../src/host/trace/turn-trace.ts'
import { traceSliceBytes, traceSwiftBytes } from '../../../src/limits.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { realDisk } from '../../../src/store/disk.ts'
import type { Task } from '../../../src/store/tasks/task.ts'
import { abandonedRun, type HostStage, hostStage } from '../../support/host-stage.ts'
import { tempDir } from '../../support/temp-dir.ts'

const deps = { disk: realDisk, clock: systemClock }
const every = { limit: Number.MAX_SAFE_INTEGER, cursor: null }
let stage: HostStage
let task: Task

beforeEach(async () => {
  stage = await hostStage()
  const site = await tempDir()
  await stage.submit('task-1', site)
  await abandonedRun(stage, 'task-1', site, null)
  task = await stage.tasks.show('task-1')
})

const session = {
  id: 'task-1-1',
  model: 'none',
  door: 'bounded-command',
  repository: '/srv',
  version: '0.1.0',
}
const at = 1_795_000_000_000
const start = JSON.stringify({ record: 'session', schema_version: 'ATIF-v1.8', at, session })
const step = (message: string) =>
  JSON.stringify({ record: 'step', step: { at, source: 'Agent', message, extensions: { stream: 'stdout' } } })
const end = JSON.stringify({ record: 'end', at, state: 'ended' })
const write = (...lines: string[]) =>
  writeFile(`${stage.storeDir}/task-1.1.atif.jsonl`, lines.join('\n'), { mode: 0o600 })

/** Enough lines for so many bytes. */
const stepsOf = (bytes: number, each = 200) =>
  Array.from({ length: Math.ceil(bytes / each) }, (_, number) => step(`${number} `.padEnd(each, 'x')))

describe('a trace that is read beside other work', () => {
  it.each([
    ['ended', [start, step('one'), step('two'), end, '']],
    ['not ended', [start, step('one'), '']],
    ['torn', [start, step('one'), '{"record":"st']],
    ['damaged', [start, 'no JSON', step('one'), end, '']],
    ['no trace at all', ['no JSON', '']],
    ['of several slices', [start, ...stepsOf(traceSliceBytes * 5), end, '']],
  ])('is worth what it is worth read at once, and has the same steps: %s', async (_name, lines) => {
    await write(...lines)
    const evidence = await readEvidence(realDisk, stage.storeDir, task, every)
    const trace = await readTurnTrace(deps, stage.storeDir, task)
    expect(trace.state).toBe(evidence.state)
    expect(trace.count).toBe(evidence.total_steps)
    expect(trace.steps(0, trace.count)).toEqual(evidence.steps)
    expect(trace.steps(1, 2)).toEqual(evidence.steps.slice(1, 2))
  })

  it('is missing, or not begun, as it is read at once', async () => {
    expect(await readTurnTrace(deps, stage.storeDir, task)).toMatchObject({ state: 'missing', count: 0 })
    const { run: _run, ...queued } = task
    expect(await readTurnTrace(deps, stage.storeDir, queued)).toMatchObject({ state: 'not_started' })
  })

  it('lets others go first between its slices, and takes rests once it is large', async () => {
    await write(start, ...stepsOf(traceSwiftBytes * 2), end, '')
    let turns = 0
    let done = false
    const others = (async () => {
      while (!done) {
        turns += 1
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const rests: number[] = []
    const clock = {
      ...systemClock,
      after(ms: number, run: () => void) {
        rests.push(ms)
        return systemClock.after(ms, run)
      },
    }
    await readTurnTrace({ disk: realDisk, clock }, stage.storeDir, task)
    done = true
    await others
    expect(turns).toBeGreaterThan((traceSwiftBytes * 2) / traceSliceBytes)
    expect(rests.length).toBeGreaterThan(traceSwiftBytes / traceSliceBytes / 2)
  })
})
