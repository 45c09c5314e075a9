import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../src/host/settle.ts'
import { readView } from '../../../src/host/trace/view.ts'
import { stdoutKeptBytesMax } from '../../../src/limits.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { interruptedDisk, type OwnerStage, ownerStage } from '../../support/owner-stage.ts'
import { until } from '../../support/until.ts'

const kinds = (steps: readonly { extensions?: Record<string, unknown> | undefined }[]) =>
  steps.map(({ extensions = {} }) => {
    const stream = extensions['stream']
    return typeof stream === 'string' ? stream : (Object.keys(extensions)[0] ?? 'prompt')
  })

/** Acts on the task once its process is recorded: from then on its revision stands until the turn ends. */
async function onceRunning(stage: OwnerStage, action: Parameters<OwnerStage['act']>[1]): Promise<void> {
  await until(async () => typeof (await stage.tasks.show('task-1')).run?.process_id === 'number')
  await stage.act('task-1', action)
}

describe('a turn that runs to its end', () => {
  it('changes the workspace, and is recorded from admission to result', async () => {
    const stage = await ownerStage()
    const task = await stage.run('sort -o list.txt list.txt; echo sorted; echo warned >&2')
    expect(await readFile(join(stage.workspace.path, 'list.txt'), 'utf8')).toBe('apples\npears\n')
    expect(task).toMatchObject({ status: 'finished', execution: 'finished', checks: 'not_run', revision: 5 })
    expect(task.run).toMatchObject({
      epoch: 1,
      effect_id: 'task-1:1:command',
      admission: {
        workspace: stage.workspace.path,
        source_revision: stage.workspace.head,
        adapter: 'bounded-command',
        network: 'network_namespace_isolated',
        read_scope: 'workspace_and_system',
        authority: 'local_os_user',
        trace_file: 'task-1.1.atif.jsonl',
        context: { prompt: 'Sort the entries.', task_revision: 1 },
      },
      result: {
        ending: 'exit 0',
        exit_code: 0,
        stop_requested: false,
        group_clear: true,
        output_incomplete: false,
        cost_status: 'unknown',
      },
    })
    expect(task.run?.process_id).toBeGreaterThan(0)
    const steps = await stage.steps()
    expect(kinds(steps)).toEqual(['prompt', 'admission', 'effect_id', 'stdout', 'stderr', 'result'])
    expect(steps.map(({ message }) => message)).toEqual([
      'Sort the entries.',
      'Run admitted.',
      'Effect intent recorded.',
      'sorted\n',
      'warned\n',
      'Command ended; not independently checked.',
    ])
    const bytes = await readFile(`${stage.storeDir}/task-1.1.atif.jsonl`)
    const digest = createHash('sha256').update(bytes).digest('hex')
    expect(task.run?.result?.trace_digest).toBe(`sha256:${digest}`)
    const view = await readView(realDisk, stage.tasks, 'task-1', { limit: 100 })
    expect(view.evidence).toMatchObject({ state: 'sealed', matches_result: true })
    expect(view.artifacts?.changes).toEqual([{ change: 'modified', path: 'list.txt' }])
    expect(view.artifacts).toMatchObject({ complete: true, omitted_changes: 0 })
    expect(view.artifact_faults).toEqual([])
  })

  it('shows the command its prompt and its turn, read-only', async () => {
    const stage = await ownerStage('Sort the entries.\nKeep $HOME as it is.')
    const script =
      'cat /run/drawbridge/turn/prompt.txt; echo; cat /run/drawbridge/turn/turn.json; touch /run/drawbridge/turn/x || echo sealed'
    await stage.run(script)
    expect(String(await stage.output())).toBe(
      'Sort the entries.\nKeep $HOME as it is.\n' +
        '{"schema":"drawbridge.turn.v1","task":"task-1","turn":1,"revision":1}\nsealed\n',
    )
  })

  it('keeps nothing of the environment but a path, and runs in the workspace', async () => {
    const stage = await ownerStage()
    await stage.run('/usr/bin/env | sort; pwd')
    const output = String(await stage.output())
    expect(output).toContain('PATH=/usr/bin:/bin:/run/current-system/sw/bin\n')
    expect(output).toContain(`${stage.workspace.path}\n`)
    expect(output).not.toContain('HOME=')
  })

  it.each([
    ['exit 3', 'exit 3', 3, {}],
    ['sleep 30', 'timed out', null, { wall_seconds: 1 }],
  ])('that ends otherwise is failed: %s', async (script, ending, code, terms) => {
    const stage = await ownerStage()
    const task = await stage.run(script, terms)
    expect(task).toMatchObject({
      status: 'finished',
      execution: 'failed',
      run: { result: { ending, exit_code: code, stop_requested: false, group_clear: true } },
    })
  })

  it('keeps no more than its cap of output, says so, and is stopped', async () => {
    const stage = await ownerStage()
    const task = await stage.run('exec yes', { stream_bytes: 262_144 })
    expect(task).toMatchObject({
      execution: 'stopped',
      run: { result: { stop_requested: true, output_incomplete: true } },
    })
    const kept = (await stage.output()).length
    expect(kept).toBeGreaterThanOrEqual(stdoutKeptBytesMax)
    expect(kept).toBeLessThanOrEqual(stdoutKeptBytesMax + 2 * 262_144)
  })

  it('is failed as disk_full when the disk runs out', async () => {
    const stage = await ownerStage()
    const task = await stage.run('sleep 30', {}, { measureDisk: async () => ({ free: 1, total: 100 }) })
    expect(task).toMatchObject({
      execution: 'failed',
      run: { result: { ending: 'disk_full', exit_code: null, stop_requested: false, group_clear: true } },
    })
  })

  it('leaves a run without a result when its trace cannot be made, and settle ends it', async () => {
    const stage = await ownerStage()
    await writeFile(`${stage.storeDir}/task-1.1.atif.jsonl`, 'other\n', { mode: 0o600 })
    await expect(stage.run('echo no')).rejects.toMatchObject({ code: 'io' })
    const task = await stage.tasks.show('task-1')
    expect(task).toMatchObject({
      status: 'running',
      run: { effect_id: null, process_id: null, result: null },
    })
    expect(await readFile(`${stage.storeDir}/task-1.1.atif.jsonl`, 'utf8')).toBe('other\n')
    expect(await settle({ disk: realDisk, tasks: stage.tasks }, 'task-1')).toMatchObject({
      execution: 'failed',
    })
  })
})

describe('stopping a turn', () => {
  it('a cancel while it runs ends it as stopped', async () => {
    const stage = await ownerStage()
    const disk = interruptedDisk('.process.json', async () => {
      void onceRunning(stage, { type: 'cancel', reason: 'enough' })
    })
    const task = await stage.run('sleep 30', {}, { disk })
    expect(task).toMatchObject({
      status: 'finished',
      execution: 'stopped',
      cancellation_reason: 'enough',
      run: { result: { stop_requested: true, group_clear: true } },
    })
  })

  it('a correction while it runs stops it, and the next turn takes it in', async () => {
    const stage = await ownerStage()
    const disk = interruptedDisk('.process.json', async () => {
      const action = { type: 'correct', prompt: 'Sort downwards.', reason: 'other way' }
      void onceRunning(stage, action)
    })
    const task = await stage.run('sleep 30', {}, { disk })
    expect(task).toMatchObject({
      execution: 'stopped',
      checks: 'disputed',
      cancellation_reason: 'corrected while running',
    })
    await stage.act('task-1', { type: 'continue', prompt: 'Go on.' })
    const next = await stage.run('cat /run/drawbridge/turn/prompt.txt')
    expect(next).toMatchObject({ execution: 'finished', run: { effect_id: 'task-1:2:command' } })
    const steps = await stage.steps(2)
    expect(kinds(steps)).toEqual([
      'prompt',
      'steer_consumed',
      'admission',
      'effect_id',
      'stdout',
      'stderr',
      'result',
    ])
    expect(steps[1]?.extensions).toEqual({
      steer_consumed: {
        revision: 5,
        reason: 'other way',
        adapter: 'bounded-command',
        acknowledgment: 'next_turn_start',
      },
    })
    expect(steps[3 + 1]?.message).toBe('Go on.')
  })

  it.each([
    ['before its intent', '.atif.jsonl', ['prompt', 'admission', 'result'], null],
    ['after its intent', 'turn.json', ['prompt', 'admission', 'effect_id', 'result'], 'task-1:1:command'],
  ])('a cancel %s starts no command', async (_name, at, expected, effect) => {
    const stage = await ownerStage()
    const disk = interruptedDisk(at, async () => {
      await stage.act('task-1', { type: 'cancel', reason: 'never mind' })
    })
    const task = await stage.run('touch ran', {}, { disk })
    expect(task).toMatchObject({
      status: 'finished',
      execution: 'stopped',
      run: {
        effect_id: effect,
        process_id: null,
        result: {
          ending: 'cancelled_before_dispatch',
          exit_code: null,
          stop_requested: true,
          group_clear: true,
          elapsed_ms: 0,
          output_incomplete: false,
        },
      },
    })
    expect(kinds(await stage.steps())).toEqual(expected)
    await expect(readFile(join(stage.workspace.path, 'ran'))).rejects.toThrow()
    const view = await readView(realDisk, stage.tasks, 'task-1', { limit: 1 })
    expect(view.evidence.state).toBe('sealed')
    expect(view.artifacts).toMatchObject({ complete: true, changes: [] })
  })

  it('takes no command between the last look for a cancel and the recorded process', async () => {
    const stage = await ownerStage()
    const revisions: number[] = []
    const disk = interruptedDisk('.process.json', async () => {
      const cancel = { type: 'cancel', reason: 'late' }
      setTimeout(() => {
        void stage.act('task-1', cancel).catch(async () => {
          revisions.push((await stage.tasks.show('task-1')).revision)
          await stage.act('task-1', cancel)
        })
      }, 1)
      await new Promise((resolve) => setTimeout(resolve, 200))
      revisions.push((await stage.tasks.show('task-1')).revision)
    })
    const task = await stage.run('sleep 30', {}, { disk })
    // The cancel that came in between waited for the spawn to be recorded, and was then written for an older revision.
    expect(revisions).toEqual([3, 4])
    expect(task).toMatchObject({ execution: 'stopped', run: { process_id: expect.any(Number) } })
  })
})
