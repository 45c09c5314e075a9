import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ended, type Going, makePlace, type Place } from '../support/door.ts'

const unknown = '0'.repeat(64)
const script = 'while [ ! -e gate ]; do sleep 0.05; done'

let place: Place
let serving: Going

beforeEach(async () => {
  place = await makePlace()
  const relay = place.start(['relay', '--listen', '127.0.0.1:0', '--json'])
  const { url } = JSON.parse(await relay.firstLine)
  const home = ['--relay', url, '--workspace', `demo=${place.workspace}`, '--loopback-test']
  await place.ask(['init', '--create-owner', ...home])
  const terms = ['--program', '/bin/sh', '--arg', '-c', '--arg', script, '--memory-mib', '256']
  await place.ask(['autostart', 'on', '--workspace', 'demo', ...terms])
  serving = place.start(['serve', '--loopback-test', '--json', '--log-level', 'silent'])
  await serving.firstLine
})
afterEach(() => place.leave())

describe('a refusal on the device says what to do', () => {
  it('for an invitation, a workspace, a task, the queue and what runs', async () => {
    const { code } = await place.ask(['invite'])
    await writeFile(join(place.base, 'code.txt'), `${code}\n`)
    await place.onDevice(['device', 'redeem', 'code.txt'])
    const other = join(place.base, 'other')
    const again = await place.run(['device', 'redeem', 'code.txt', '--state', other, '--loopback-test'])
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/\nthe invitation was used.*\n$/)])

    await refused(['redeem', 'nonsense'], 'configuration', 'give coder-host:…, a file that holds it')
    await refused(
      ['create', '--workspace', 'none', '--title', 'x', '--prompt', 'x'],
      'forbidden',
      'workspace list',
    )
    await refused(['tasks', '--workspace', 'none'], 'forbidden', 'workspace list')
    await refused(['send', unknown, 'x'], 'forbidden', 'drawbridge device tasks')
    await refused(['read', unknown], 'not_found', 'drawbridge device tasks')

    const create = ['--workspace', 'demo', '--title', 'Gate', '--prompt', 'Hold the gate.']
    const { task } = await place.onDevice(['device', 'create', ...create])
    await place.until('the turn to run', ['task', 'show', task], ({ status }) => status === 'running')
    await refused(['send', task, 'x'], 'conflict', `drawbridge device queue ${task}`)
    await refused(['steer', task, 'x'], 'unsupported', `drawbridge device queue ${task}`)
    await refused(['steer', task, 'x', '--emulate'], 'unsupported', `drawbridge device queue ${task}`)
    await refused(['answer', task, 'x'], 'conflict', 'asks nothing')

    const { id } = await place.onDevice(['device', 'queue', task, 'Then rest.'])
    const lease = `drawbridge device lease ${task}`
    await refused(['edit', task, id, 'Then go on.'], 'conflict', lease)
    await refused(['remove', task, id], 'conflict', lease)
    await place.onDevice(['device', 'lease', task])
    await refused(['reorder', task, unknown], 'conflict', 'exactly the waiting messages')
    await refused(['edit', task, unknown, 'x'], 'forbidden', `drawbridge device queue-list ${task}`)
    await refused(['send-now', task, id], 'unsupported', `drawbridge device queue ${task}`)
    await refused(['interrupt', task, 'two\nlines'], 'bounds', 'one line')
    await place.onDevice(['device', 'interrupt', task, 'enough'])
  })
})

async function refused(words: readonly string[], code: string, hint: string): Promise<void> {
  const ended = await onDevice(words)
  expect([words[0], ended.code, ended.stdout]).toEqual([words[0], 1, ''])
  const [first, second, last] = ended.stderr.split('\n')
  expect([words[0], first]).toEqual([words[0], expect.stringContaining(`(${code})`)])
  expect([words[0], second]).toEqual([words[0], expect.stringContaining(hint)])
  expect(last).toBe('')
}

function onDevice(words: readonly string[]): Promise<Ended> {
  return place.run(['device', ...words, '--state', place.device, '--loopback-test'])
}
