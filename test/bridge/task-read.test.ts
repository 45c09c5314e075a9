import { readFile, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import type { TaskContext } from '../../src/bridge/operations/context.ts'
import { readTask } from '../../src/bridge/operations/task-read.ts'
import { steeringRow } from '../../src/host/steering.ts'
import { answerBytesMax } from '../../src/limits.ts'
import { sha256Digest } from '../../src/protocol/digest.ts'
import { type TaskDetail, taskDetailSchema } from '../../src/protocol/task-pages.ts'
import { utf8Bytes } from '../../src/protocol/text.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import type { RunResult } from '../../src/store/tasks/task.ts'
import { id } from '../support/access.ts'
import { abandonedRun, type HostStage, hostStage } from '../support/host-stage.ts'
import { tempDir } from '../support/temp-dir.ts'

const task = id(0x7a)
const query = { workspace: 'site', task, revision: null, cursor: null, limit: 32 }
let stage: HostStage
let context: TaskContext

beforeEach(async () => {
  stage = await hostStage()
  const site = await tempDir()
  await stage.submit(task, site)
  await abandonedRun(stage, task, site, null)
  context = {
    disk: realDisk,
    clock: systemClock,
    tasks: stage.tasks,
    core: { steeringOf: () => steeringRow('bounded-command'), notes: async () => () => null },
    settings: () => ({
      workspaces: [
        { label: 'site', path: site },
        { label: 'other', path: '/srv/other' },
      ],
    }),
  } as unknown as TaskContext
})

async function trace(steps: readonly object[], turn = 1): Promise<void> {
  const session = {
    id: `${task}-${turn}`,
    model: 'none',
    door: 'bounded-command',
    repository: '/srv',
    version: '0.1.0',
  }
  const lines = [
    { record: 'session', schema_version: 'ATIF-v1.8', at: 1_795_000_000_000, session },
    ...steps.map((step, index) => ({
      record: 'step',
      step: { at: 1_795_000_000_000 + index * 1000, ...step },
    })),
  ]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  await writeFile(`${stage.storeDir}/${task}.${turn}.atif.jsonl`, text, { mode: 0o600 })
}

/** Ends the first turn and begins a second one, which has no run yet. */
async function nextTurn(): Promise<void> {
  const lock = await stage.ownerLock(task)
  const result: RunResult = {
    ending: 'exit 0',
    exit_code: 0,
    stop_requested: false,
    group_clear: true,
    elapsed_ms: 5,
    trace_digest: sha256Digest(await readFile(`${stage.storeDir}/${task}.1.atif.jsonl`)),
    candidate_snapshot: null,
    artifact_file: null,
    artifact_digest: null,
    output_incomplete: false,
    cost_status: 'unknown',
  }
  await stage.tasks.record(task, { type: 'result', result }, 1, lock)
  await lock.release()
  await stage.act(task, { type: 'continue', prompt: 'And the index.' })
}

/** Every page, from the newest to the oldest. */
async function pages(limit: number): Promise<TaskDetail[]> {
  const all: TaskDetail[] = []
  let cursor: string | null = null
  do {
    const page: TaskDetail = await readTask(context, { ...query, cursor, limit })
    expect(taskDetailSchema.safeParse(page).error).toBe(undefined)
    expect(utf8Bytes(JSON.stringify(page))).toBeLessThanOrEqual(answerBytesMax)
    all.push(page)
    cursor = page.next
  } while (cursor !== null)
  return all
}

const output = (message: string) => ({
  source: 'System',
  message,
  extensions: { stream: 'stdout', offset: 0, raw_bytes: [1, 2, 3], gaps: [] },
})

describe('reading the steps of a turn', () => {
  it('pages to the room that a smaller relay leaves, cutting texts, and shows every step once', async () => {
    await trace([output('\u0001'.repeat(4_000)), output('short'), output('x'.repeat(4_000))])
    const room = 2_400
    const seen: number[] = []
    let cursor: string | null = null
    do {
      const page: TaskDetail = await readTask(context, { ...query, cursor }, room)
      expect(utf8Bytes(JSON.stringify(page))).toBeLessThanOrEqual(room)
      expect(page.steps.every(({ text, cut }) => text !== '' && (cut || text === 'short'))).toBe(true)
      seen.unshift(...page.steps.map(({ step }) => step))
      cursor = page.next
    } while (cursor !== null)
    expect(seen).toEqual([1, 2, 3])
  })

  it('gives the newest page first, each in the order of time', async () => {
    await trace(Array.from({ length: 7 }, (_, index) => output(`line ${index + 1}`)))
    const read = await pages(3)
    expect(read.map((page) => page.steps.map((step) => step.step))).toEqual([[5, 6, 7], [2, 3, 4], [1]])
  })

  it('shows what a reader may see of each, and never raw bytes', async () => {
    const result = { ending: 'exit 3', exit_code: 3 }
    await trace([
      { source: 'User', message: 'Sort the entries.' },
      output('sorted'),
      { source: 'System', message: 'Command ended; not independently checked.', extensions: { result } },
    ])
    const [page] = await pages(32)
    expect(page).toMatchObject({ evidence: 'incomplete', cost_usd: null, cost_status: 'unknown', turn: 1 })
    expect(
      page?.steps.map(({ role, text, stream, ending, exit_code }) => [role, text, stream, ending, exit_code]),
    ).toEqual([
      ['user', 'Sort the entries.', null, null, null],
      ['system', 'sorted', 'stdout', null, null],
      ['system', 'Command ended; not independently checked.', null, 'exit 3', 3],
    ])
    expect(JSON.stringify(page)).not.toContain('raw_bytes')
  })

  it('cuts long texts between characters and keeps each page within its bytes', async () => {
    await trace(Array.from({ length: 40 }, () => output('ä'.repeat(10_000))))
    const read = await pages(32)
    const steps = read.flatMap((page) => page.steps)
    expect(steps.map((step) => step.step).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, i) => i + 1),
    )
    expect(steps.every((step) => step.cut && /^ä+$/.test(step.text))).toBe(true)
    expect(read.length).toBeGreaterThan(2)
  })

  it('gets a page on even when one step is all escapes', async () => {
    await trace([output('\u0001'.repeat(4_096)), output('\u0001'.repeat(4_096))])
    expect((await pages(32)).map((page) => page.steps.length)).toEqual([1, 1])
  })

  it('goes forward after a step, within a page and its bytes, until there is no more by now', async () => {
    await trace(Array.from({ length: 7 }, (_, index) => output(index === 3 ? 'ä'.repeat(10_000) : 'short')))
    const read: number[][] = []
    for (let cursor: string | null = '1+0'; cursor !== null; ) {
      const page: TaskDetail = await readTask(context, { ...query, cursor, limit: 3 })
      expect(taskDetailSchema.safeParse(page).error).toBe(undefined)
      read.push(page.steps.map((step) => step.step))
      cursor = page.next
    }
    expect(read).toEqual([[1, 2, 3], [4, 5, 6], [7]])
    expect(await readTask(context, { ...query, cursor: '1+7' })).toMatchObject({ steps: [], next: null })
    await trace(Array.from({ length: 40 }, () => output('\u0001'.repeat(4_096))))
    const full = await readTask(context, { ...query, cursor: '1+5' })
    expect(full).toMatchObject({ steps: [{ step: 6 }], next: '1+6' })
    expect(utf8Bytes(JSON.stringify(full))).toBeLessThanOrEqual(answerBytesMax)
  })

  it('serves a turn that is over, with its own evidence, once the next has begun', async () => {
    await trace([output('one'), output('two'), output('three')])
    const [newest] = await pages(1)
    await nextTurn()
    const then = { turn: 2, phase: 'queued', evidence: 'incomplete' }
    const rest = await readTask(context, { ...query, cursor: '1+1' })
    expect(rest).toMatchObject({ ...then, next: null })
    expect(rest.steps.map(({ turn, step, text }) => [turn, step, text])).toEqual([
      [1, 2, 'two'],
      [1, 3, 'three'],
    ])
    const older = await readTask(context, { ...query, cursor: newest?.next ?? null })
    expect(older.steps.map((step) => step.text)).toEqual(['one', 'two'])
    const now = await readTask(context, { ...query, cursor: '2+0' })
    expect(now).toMatchObject({ turn: 2, evidence: 'not_started', steps: [], next: null })
    expect(await readTask(context, query)).toEqual(now)
  })

  const refused: [string, Partial<Parameters<typeof readTask>[1]>, string][] = [
    ['a cursor that was never given', { cursor: 'x' }, 'malformed'],
    ['a cursor past the end', { cursor: '1.9' }, 'stale'],
    ['a place past the end', { cursor: '1+2' }, 'stale'],
    ['a cursor of a turn to come', { cursor: '2.1' }, 'stale'],
    ['the start of a turn to come', { cursor: '2+0' }, 'stale'],
    ['a turn before the first', { cursor: '0+0' }, 'stale'],
    ['another revision', { revision: 1 }, 'stale'],
    ['another workspace', { workspace: 'other' }, 'forbidden'],
    ['an unknown workspace', { workspace: 'none' }, 'forbidden'],
    ['an unknown task', { task: id(1) }, 'not_found'],
  ]
  for (const [name, changes, code] of refused) {
    it(`refuses ${name}`, async () => {
      await trace([output('one')])
      await expect(readTask(context, { ...query, ...changes })).rejects.toMatchObject({ code })
    })
  }
})
