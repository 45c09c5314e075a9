import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makePlace, type Place } from '../support/door.ts'
import { submitAction, taskCommand } from '../support/task-command.ts'

let place: Place

beforeEach(async () => {
  place = await makePlace()
  await place.ask(['init', '--create-owner'])
  for (const [at, task] of ['river-crossing-1', 'river-crossing-2', 'lanterns-lit'].entries()) {
    const input = taskCommand(submitAction(place.workspace), { command: `cmd-${at}`, task })
    await place.ask(['task', 'submit', '--file', '-'], { input })
  }
})
afterEach(() => place.leave())

it('the beginning of one task ID, at least eight characters of it, means the task', async () => {
  expect((await place.ask(['task', 'show', 'lanterns'])).task_id).toBe('lanterns-lit')
  expect((await place.ask(['task', 'view', 'lanterns-'])).task.task_id).toBe('lanterns-lit')
  expect((await place.ask(['queue', 'list', 'lanterns'])).task).toBe('lanterns-lit')
  expect(await place.ask(['commands', 'list', 'lanterns'])).toEqual({ commands: [] })
  const out = join(place.base, 'grant.json')
  const { grant } = await place.ask(['grant', 'new', 'lanterns', '--program', '/bin/sh', '--out', out])
  expect(grant.task_id).toBe('lanterns-lit')
})

it('the beginning of several, or too little of one, is not_found', async () => {
  const refusals: [string, string][] = [
    ['river-crossing', '2 tasks have an ID that begins with river-crossing'],
    ['lantern', 'no such task'],
    ['lanterns-out', 'no such task'],
  ]
  for (const [given, words] of refusals) {
    const ended = await place.run(['task', 'show', given])
    expect([ended.code, ended.stdout]).toEqual([1, ''])
    const { error } = JSON.parse(ended.stderr)
    expect([given, error.code, error.message]).toEqual([given, 'not_found', expect.stringContaining(words)])
  }
})
