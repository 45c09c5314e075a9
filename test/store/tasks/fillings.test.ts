import { describe, expect, it } from 'vitest'
import { isTight, storeFillings } from '../../../src/store/tasks/fillings.ts'
import { cancel, goOn, newStore, submit } from './samples.ts'

describe('how full a store is', () => {
  it.each([
    [819, 1_024, false],
    [820, 1_024, true],
    [1_024, 1_024, true],
    [0, 64, false],
  ])('with %i of %i used is tight: %s', (used, max, tight) => {
    expect(isTight({ what: 'tasks', used, max })).toBe(tight)
  })

  it('counts tasks, command IDs and the bytes of their log against their bounds', () => {
    expect(storeFillings({ tasks: 3, commands: 5, bytes: 7 })).toEqual([
      { what: 'tasks', used: 3, max: 1_024 },
      { what: 'command IDs', used: 5, max: 2_048 },
      { what: 'bytes of identities.log', used: 7, max: 4_194_304 },
    ])
  })

  it('counts the turns, events and bytes of each task', async () => {
    const { store } = await newStore()
    await store.apply(submit('task-1'))
    await store.apply(cancel('task-1', 1))
    await store.apply(goOn('task-1', 2))
    await store.apply(submit('task-2'))
    const fillings = await store.fillings()
    const of = (what: string, task?: string) =>
      fillings.find((one) => one.what === what && one.task === task)?.used
    expect([of('tasks'), of('command IDs')]).toEqual([2, 4])
    expect([of('turns', 'task-1'), of('turns', 'task-2'), of('host events', 'task-1')]).toEqual([1, 1, 0])
    expect(of('bytes of history', 'task-1')).toBeGreaterThan(of('bytes of history', 'task-2') ?? Infinity)
  })
})
