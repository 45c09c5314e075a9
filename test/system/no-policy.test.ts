import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place } from '../support/door.ts'

let place: Place

beforeEach(async () => {
  place = await makePlace()
})
afterEach(() => place.leave())

describe('a host without a policy', () => {
  it('keeps a created task queued until the operator grants and starts its turn', async () => {
    const relay = place.start(['relay', '--listen', '127.0.0.1:0', '--json'])
    const { url } = JSON.parse(await relay.firstLine)
    const home = ['--relay', url, '--workspace', `demo=${place.workspace}`, '--loopback-test']
    await place.ask(['init', '--create-owner', ...home])
    await place.start(['serve', '--loopback-test', '--json']).firstLine
    const { code } = await place.ask(['invite'])
    await place.onDevice(['device', 'redeem', '-'], { input: code })
    const { task } = await place.onDevice(
      ['device', 'create', '--workspace', 'demo', '--title', 'Later', '--prompt', '-'],
      { input: 'Do it\nwhen you like.' },
    )
    // A queued message waits behind it and starts nothing either.
    await place.onDevice(['device', 'queue', task, 'And then this.'])
    expect(await place.ask(['autostart', 'show'])).toEqual({ enabled: false })
    const waiting = await place.ask(['task', 'show', task])
    expect([waiting.status, waiting.revision, waiting.run]).toEqual(['queued', 1, undefined])

    const grant = join(place.base, 'grant.json')
    const script = 'cat /run/drawbridge/turn/prompt.txt > done.txt; cat /run/drawbridge/turn/turn.json'
    const terms = ['--program', '/bin/sh', '--arg', '-c', '--arg', script, '--write', '--memory-mib', '256']
    const drafted = await place.ask(['grant', 'new', task, ...terms, '--out', grant])
    expect(drafted.grant).toMatchObject({ task_id: task, expected_revision: 1, wall_seconds: 600 })
    const launch = await place.ask(['task', 'start', '--grant', grant])
    expect(launch).toMatchObject({ task_id: task, admission: 'pending' })

    // Turn 1 ends and the message continues the task; without a policy turn 2 waits for a grant of its own.
    const second = await place.until('turn 2 to wait', ['task', 'show', task], (now) => {
      return now.earlier?.length === 1 && now.status === 'queued'
    })
    expect(second.run).toBeUndefined()
    expect(await readFile(join(place.workspace, 'done.txt'), 'utf8')).toBe('Do it\nwhen you like.')
    expect((await place.run(['task', 'start', '--grant', grant])).code).toBe(1)
    const said = JSON.parse(await readFile(launch.diagnostic_path, 'utf8'))
    expect(said).toMatchObject({ task_id: task, status: 'finished', execution: 'finished' })
  }, 60_000)
})
