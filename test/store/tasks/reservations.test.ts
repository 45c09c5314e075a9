import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/protocol/refusal.ts'
import type { Disk } from '../../../src/seams/disk.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { sharedReservations, type Wish } from '../../../src/store/tasks/reservations.ts'
import { newStore, submit } from './samples.ts'

const identity = (name: string) => ({ command_id: name, task_id: name, submit: false })
const namesOf = (wishes: readonly Wish[]) => wishes.map((wish) => wish.identity.command_id)

/** A grant that waits until it is let go, and remembers what it was asked for. */
function held() {
  const asked: string[][] = []
  const letGo: (() => void)[] = []
  const reserve = sharedReservations(async (wishes) => {
    asked.push(namesOf(wishes))
    await new Promise<void>((resolve) => letGo.push(resolve))
    return wishes.map((wish) =>
      wish.identity.command_id === 'taken' ? new Refusal('command_conflict', 'taken') : null,
    )
  })
  const next = () => letGo.shift()?.()
  return { asked, reserve, next }
}

describe('reservations', () => {
  it('join the next write while one is under way, in the order of asking', async () => {
    const { asked, reserve, next } = held()
    const all = ['a', 'b', 'c', 'd'].map((name) => reserve(identity(name), 'device'))
    expect(asked).toEqual([['a']])
    next()
    await all[0]
    expect(asked).toEqual([['a'], ['b', 'c', 'd']])
    const late = reserve(identity('e'), 'device')
    next()
    await Promise.all(all)
    next()
    await late
    expect(asked).toEqual([['a'], ['b', 'c', 'd'], ['e']])
  })

  it('are refused one by one, and all together when the write fails', async () => {
    const { reserve, next } = held()
    const first = reserve(identity('a'), 'device')
    const [taken, fine] = [reserve(identity('taken'), 'device'), reserve(identity('b'), 'device')]
    next()
    await first
    next()
    await expect(taken).rejects.toMatchObject({ code: 'command_conflict' })
    await fine

    const failing = sharedReservations(() => Promise.reject(new Refusal('io', 'EIO')))
    for (const name of ['c', 'd'])
      await expect(failing(identity(name), 'device')).rejects.toMatchObject({ code: 'io' })
  })
})

describe('a store that is given many commands at once', () => {
  it('syncs the log of their ids far fewer times, with every id once in it', async () => {
    let appends = 0
    const disk: Disk = {
      ...realDisk,
      async openAppend(path, options) {
        const file = await realDisk.openAppend(path, options)
        return {
          ...file,
          append(bytes) {
            appends += 1
            return file.append(bytes)
          },
        }
      },
    }
    const { store, dir } = await newStore(disk)
    const tasks = Array.from({ length: 40 }, (_, number) => `task-${number}`)
    await Promise.all(tasks.map((task) => store.apply(submit(task))))
    const lines = (await readFile(join(dir, 'identities.log'), 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).task_id).sort()).toEqual([...tasks].sort())
    expect(appends).toBeLessThan(20)
    expect(await store.list()).toHaveLength(40)
  })
})
