import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openTaskStore, type TaskStore } from '../../src/store/tasks/store.ts'
import { goOn, runThrough, submit } from '../store/tasks/samples.ts'
import { makePlace, type Place } from '../support/door.ts'

let place: Place
beforeEach(async () => {
  place = await makePlace()
  await place.ask(['init', '--create-owner', '--workspace', `demo=${place.workspace}`, '--loopback-test'])
})
afterEach(() => place.leave())

const tasks = () => join(place.home, 'tasks')

/** A task that ran this often. */
async function taskOfTurns(turns: number): Promise<void> {
  const store = await openTaskStore(realDisk, systemClock, tasks())
  await store.apply(submit('task-1'))
  for (let turn = 1; turn <= turns; turn += 1) {
    if (turn > 1) await goOnWith(store)
    await runThrough(store, 'task-1')
  }
  await store.close()
}

async function goOnWith(store: TaskStore): Promise<void> {
  await store.apply(goOn('task-1', (await store.show('task-1')).revision))
}

describe('a task store that is put aside on the command line', () => {
  it('is where the command says, and the next one is empty', async () => {
    await taskOfTurns(2)
    const said = await place.run(['store', 'rotate'])
    expect([said.code, said.stdout]).toEqual([
      0,
      `put aside    ${tasks()}.1\ntasks in it  1\nlook at it   drawbridge task list --store '${tasks()}.1'\n`,
    ])
    expect(await place.ask(['task', 'list'])).toEqual([])
    expect(await place.ask(['task', 'list', '--store', `${tasks()}.1`])).toMatchObject([
      { task_id: 'task-1' },
    ])
    const again = await place.run(['store', 'rotate'])
    expect([again.code, again.stderr]).toEqual([
      1,
      'drawbridge: the task store has no tasks (invalid_transition)\n',
    ])
  })

  it('is refused beside a service, and while a task waits', async () => {
    await place.ask(['task', 'submit', '--file', '-'], { input: Buffer.from(submit('task-1')).toString() })
    const waits = await place.run(['store', 'rotate'])
    expect([waits.code, waits.stderr]).toEqual([
      1,
      'drawbridge: task task-1 has not ended (invalid_transition)\ndrawbridge task list\n',
    ])
    await place.start(['serve', '--embedded-relay', '127.0.0.1:0', '--loopback-test', '--json']).firstLine
    expect((await place.run(['store', 'rotate'])).stderr).toMatch(/process \d+ already serves this home/)
  })

  it('and was cut off between its two moves makes everything else refuse, with what to type', async () => {
    await taskOfTurns(1)
    await place.ask(['store', 'rotate'])
    await rename(tasks(), `${tasks()}.next`)
    for (const words of [
      ['serve', '--loopback-test'],
      ['task', 'list'],
      ['commands', 'list'],
    ]) {
      const refused = await place.run(words)
      expect([refused.code, refused.stderr], words.join(' ')).toEqual([
        1,
        expect.stringMatching(/putting the task store aside was cut off.*\bdrawbridge store rotate\b/s),
      ])
    }
    expect(await place.ask(['store', 'rotate'])).toEqual({ retired: `${tasks()}.1`, tasks: 1 })
    expect(await place.ask(['task', 'list'])).toEqual([])
  })
})

describe('a capacity that is nearly used up', () => {
  it('is told by doctor and by status, with what to do', async () => {
    const words = `turns of task task-1: 52 of 64 used; go on in a new task`
    await taskOfTurns(51)
    expect((await place.run(['doctor'])).stdout).not.toContain('turns of task')
    const store = await openTaskStore(realDisk, systemClock, tasks())
    await goOnWith(store)
    await store.close()
    const doctor = await place.run(['doctor'])
    expect(doctor.stdout).toContain(`reads, 1 tasks\n     ${words}\n`)
    await place.start(['serve', '--embedded-relay', '127.0.0.1:0', '--loopback-test', '--json']).firstLine
    expect((await place.run(['status'])).stdout).toContain(`tight       ${words}\n`)
    expect(await place.ask(['status'])).toMatchObject({ tight: [words], faults: [] })
  })
})
