import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ended, makePlace, type Place } from '../support/door.ts'
import { submitAction, taskCommand } from '../support/task-command.ts'

let place: Place

beforeEach(async () => {
  place = await makePlace()
})
afterEach(() => place.leave())

describe('the task command line', () => {
  it('tells its usage on standard error and exits 64', async () => {
    await place.run(['init', '--create-owner'])
    const wrong = [
      ['task', 'nope'],
      ['task', 'list', 'extra'],
      ['task', 'show'],
      ['task', 'show', 'a', 'b'],
      ['task', 'submit'],
      ['task', 'submit', '--file'],
      ['task', 'submit', '--file', ''],
      ['task', 'submit', '--file', '--json'],
      ['task', 'submit', '--file', 'a', '--file', 'b'],
      ['task', 'list', '--grant', 'a'],
      ['task', 'view', 'a', '--limit', 'x'],
      ['task', 'view', 'a', '--cursor', '{}'],
      ['task', 'view', 'a', '--cursor', 'x'.repeat(4_097)],
    ]
    for (const words of wrong) {
      const ended = await place.run(words)
      expect([words, ended.code, ended.stdout]).toEqual([words, 64, ''])
      expect(ended.stderr).toMatch(/^drawbridge task: .*\n\nUsage: /)
    }
  })

  it('prints help on standard output and exits 0', async () => {
    for (const words of [
      ['task', '--help'],
      ['task', '-h'],
      ['task', 'view', '--help'],
    ]) {
      const ended = await place.run(words)
      expect([ended.code, ended.stderr]).toEqual([0, ''])
      expect(ended.stdout).toContain('Usage: drawbridge task')
    }
  })

  it('checks a command in order: readable, well formed, of the right kind; only then it opens a store', async () => {
    const store = join(place.base, 'store')
    const submit = (input: string, verb = 'submit') =>
      place.run(['task', verb, '--file', '-', '--store', store], { input })
    const missing = await place.run(['task', 'submit', '--file', join(place.base, 'none'), '--store', store])
    expect(codeOf(missing)).toBe('read_command')
    expect(codeOf(await submit('{'))).toBe('invalid_command')
    expect(codeOf(await submit('{"a":1,"a":2}'))).toBe('invalid_command')
    const command = taskCommand(submitAction(place.workspace))
    expect(codeOf(await submit(command.replace('task-command.v1', 'task-command.v9')))).toBe(
      'unsupported_schema',
    )
    expect(codeOf(await submit(`${command}${' '.repeat(70_000)}`))).toBe('limit_exceeded')
    expect(codeOf(await submit(command, 'cancel'))).toBe('action_mismatch')
    expect(await readdir(place.base)).not.toContain('store')
    expect((await submit(command)).code).toBe(0)
  })

  it('answers the same bytes with the same receipt, and other bytes under the same ID with a conflict', async () => {
    await place.run(['init', '--create-owner'])
    const command = taskCommand(submitAction(place.workspace))
    const receipt = await place.ask(['task', 'submit', '--file', '-'], { input: command })
    expect(receipt).toMatchObject({ task_id: 'task-1', sequence: 1, revision: 1, status: 'queued' })
    expect(await place.ask(['task', 'submit', '--file', '-'], { input: command })).toEqual(receipt)
    const other = taskCommand(submitAction(place.workspace, 'Something else.'))
    expect(codeOf(await place.run(['task', 'submit', '--file', '-'], { input: other }))).toBe(
      'command_conflict',
    )
  })

  it('lists for people a line a task, and everything for programs', async () => {
    await place.run(['init', '--create-owner'])
    expect((await place.run(['task', 'list'])).stdout).toBe('no tasks\n')
    const action = submitAction(place.workspace, 'x')
    const titled = {
      ...action,
      intent: { ...(action['intent'] as object), title: `${'wide '.repeat(14)}\u202e` },
    }
    await place.run(['task', 'submit', '--file', '-'], { input: taskCommand(action) })
    const second = await place.run(['task', 'submit', '--file', '-'], {
      input: taskCommand(titled, { command: 'cmd-2', task: 'task-2-with-a-long-name' }),
    })
    expect(second.code, second.stderr).toBe(0)
    const lines = (await place.run(['task', 'list'])).stdout.trimEnd().split('\n')
    expect(lines[0]).toBe('2 tasks')
    expect(lines[1]).toBe('task-1        queued     not_started  Sort')
    expect(lines[2]).toBe(`task-2-with-  queued     not_started  ${'wide '.repeat(11)}wide…`)
    expect(lines.join('')).not.toContain('\u202e')
    expect(await place.ask(['task', 'list'])).toHaveLength(2)
  })

  it('runs a granted turn to its end, shows its evidence, and keeps what it left', async () => {
    await place.run(['init', '--create-owner'])
    await place.run(['task', 'submit', '--file', '-'], { input: taskCommand(submitAction(place.workspace)) })
    const grant = join(place.base, 'grant.json')
    const script = 'cat /run/drawbridge/turn/prompt.txt; echo b > list.txt; echo warn >&2'
    const terms = ['--program', '/bin/sh', '--arg', '-c', '--arg', script, '--write', '--memory-mib', '256']
    await place.ask(['grant', 'new', 'task-1', ...terms, '--out', grant])
    const task = await place.ask(['task', 'execute', '--grant', grant])
    expect(task).toMatchObject({ status: 'finished', execution: 'finished', revision: 5 })
    expect(task.run.result).toMatchObject({ ending: 'exit 0', group_clear: true, output_incomplete: false })

    const view = await place.ask(['task', 'view', 'task-1'])
    expect(view.evidence).toMatchObject({ state: 'sealed', matches_result: true, more_available: false })
    const said = view.evidence.steps.map((step: { message: string }) => step.message)
    expect(said[0]).toBe('Sort the entries.')
    expect(said).toContain('Sort the entries.')
    expect(view.artifacts.entries.map((entry: { path: string }) => entry.path)).toEqual(['list.txt'])

    const kept = await place.ask(['task', 'artifact', 'task-1', '--path', 'list.txt'])
    expect(Buffer.from(kept.bytes).toString()).toBe('b\n')
    expect(await readFile(join(place.workspace, 'list.txt'), 'utf8')).toBe('b\n')
    expect(codeOf(await place.run(['task', 'artifact', 'task-1', '--path', 'none']))).toBe('not_found')

    const page = await place.ask(['task', 'view', 'task-1', '--limit', '2'])
    const rest = await place.ask(['task', 'view', 'task-1', '--cursor', JSON.stringify(page.evidence.next)])
    expect([...page.evidence.steps, ...rest.evidence.steps]).toEqual(view.evidence.steps)
    expect(codeOf(await place.run(['task', 'view', 'task-1', '--limit', '0']))).toBe('invalid_command')
    // The same grant again finds a task that has ended, and records nothing.
    expect(codeOf(await place.run(['task', 'execute', '--grant', grant]))).toBe('invalid_transition')
    expect(await place.ask(['task', 'show', 'task-1'])).toEqual(task)
  })

  it('refuses to draft over a file that is there, and takes a grant for starting from a file only', async () => {
    await place.run(['init', '--create-owner'])
    await place.run(['task', 'submit', '--file', '-'], { input: taskCommand(submitAction(place.workspace)) })
    const grant = join(place.base, 'grant.json')
    await writeFile(grant, 'mine')
    const drafted = await place.run([
      'grant',
      'new',
      'task-1',
      '--program',
      '/bin/sh',
      '--out',
      grant,
      '--json',
    ])
    expect([drafted.code, codeOf(drafted)]).toEqual([1, 'io'])
    expect(await readFile(grant, 'utf8')).toBe('mine')
    expect(codeOf(await place.run(['task', 'start', '--grant', '-']))).toBe('configuration')
    expect(codeOf(await place.run(['task', 'start', '--grant', grant]))).toBe('start_owner')
    expect(codeOf(await place.run(['task', 'execute', '--grant', join(place.base, 'none')]))).toBe(
      'read_grant',
    )
  })

  it('archives only what has ended, and takes it back', async () => {
    await place.run(['init', '--create-owner'])
    await place.run(['task', 'submit', '--file', '-'], { input: taskCommand(submitAction(place.workspace)) })
    const archive = ['task', 'archive', 'task-1', '--reason', 'done with']
    expect(codeOf(await place.run(archive))).toBe('invalid_transition')
    const cancel = taskCommand({ type: 'cancel', reason: 'no' }, { command: 'cmd-2', revision: 1 })
    await place.ask(['task', 'cancel', '--file', '-'], { input: cancel })
    expect(await place.ask(archive)).toEqual({ task: 'task-1', archived: true })
    expect(await place.ask(archive)).toEqual({ task: 'task-1', archived: false })
    expect(await place.ask(['task', 'restore', 'task-1'])).toEqual({ task: 'task-1', restored: true })
    expect(await place.ask(['task', 'restore', 'task-1'])).toEqual({ task: 'task-1', restored: false })
  })
})

/** The code of a refusal: one line of JSON on standard error and nothing on standard output. */
function codeOf(ended: Ended): string {
  expect(ended.stdout).toBe('')
  expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(ended.code).toBe(1)
  return JSON.parse(ended.stderr).error.code
}
