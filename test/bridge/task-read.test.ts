import { writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import type { TaskContext } from '../../src/bridge/operations/context.ts'
import { readTask } from '../../src/bridge/operations/task-read.ts'
import { steeringRow } from '../../src/host/steering.ts'
import { answerBytesMax } from '../../src/limits.ts'
import { type TaskDetail, taskDetailSchema } from '../../src/protocol/task-pages.ts'
import { utf8Bytes } from '../../src/protocol/text.ts'
import { realDisk } from '../../src/store/disk.ts'
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
    tasks: stage.tasks,
    core: { steeringOf: () => steeringRow('bounded-command'), noteOf: () => null },
    settings: () => ({
      workspaces: [
        { label: 'site', path: site },
        { label: 'other', path: '/srv/other' },
      ],
    }),
  } as unknown as TaskContext
})

async function trace(steps: readonly object[]): Promise<void> {
  const session = {
    id: `${task}-1`,
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
  await writeFile(`${stage.storeDir}/${task}.1.atif.jsonl`, text, { mode: 0o600 })
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

  const refused: [string, Partial<Parameters<typeof readTask>[1]>, string][] = [
    ['a cursor that was never given', { cursor: 'x' }, 'malformed'],
    ['a cursor past the end', { cursor: '1.9' }, 'stale'],
    ['a cursor of another turn', { cursor: '2.1' }, 'stale'],
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
