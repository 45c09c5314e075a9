import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/seams/clock.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import type { Task } from '../../../src/store/tasks/task.ts'
import { refused } from '../../support/refusals.ts'
import { cancel, newStore, submit } from './samples.ts'

const race = new URL('../../fixtures/store/race.ts', import.meta.url)
const applyUntilKilled = new URL('../../fixtures/store/apply-until-killed.ts', import.meta.url)
const holdLock = new URL('../../fixtures/store/hold-lock.ts', import.meta.url)

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** A task is as one of its corrections left it, and never as an earlier look found it outdated. */
function expectStateThatWas(
  { task_id, revision, status, corrections }: Task,
  seen: Map<string, number>,
): void {
  expect(revision).toBeGreaterThanOrEqual(seen.get(task_id) ?? 0)
  seen.set(task_id, revision)
  expect(status).toBe('queued')
  expect((corrections ?? []).map((one) => one.revision)).toEqual(
    Array.from({ length: revision - 1 }, (_, place) => place + 2),
  )
}

function start(program: URL, ...args: string[]) {
  const child = execa(process.execPath, ['--import', 'tsx', program.pathname, ...args], { reject: false })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, next: async (): Promise<string> => (await lines.next()).value ?? '' }
}

describe('processes that share a store', { timeout: 90_000 }, () => {
  it('racing on one task, eight of them, each get every command in, and no revision twice', async () => {
    const { store, dir, reopen } = await newStore()
    await store.apply(submit('task-1'))
    const racers = names.map((name) => start(race, dir, 'task-1', name, '5'))
    for (const racer of racers) expect(await racer.next()).toBe('ready')
    for (const { child } of racers) child.stdin.write('go\n')
    const revisions: number[] = []
    for (const { child, next } of racers) {
      revisions.push(...JSON.parse(await next()))
      expect((await child).exitCode).toBe(0)
    }
    expect(revisions.sort((one, other) => one - other)).toEqual(
      Array.from({ length: 40 }, (_, place) => place + 2),
    )
    expect((await store.show('task-1')).revision).toBe(41)
    expect((await (await reopen()).show('task-1')).corrections).toHaveLength(40)
    expect((await readFile(join(dir, 'identities.log'), 'utf8')).split('\n')).toHaveLength(42)
  })

  it('racing on different tasks, eight of them, do not disturb one another, nor readers beside them', async () => {
    const { store, dir } = await newStore()
    for (const id of names) await store.apply(submit(id))
    const racers = names.map((id) => start(race, dir, id, `by-${id}`, '5'))
    for (const racer of racers) expect(await racer.next()).toBe('ready')
    for (const { child } of racers) child.stdin.write('go\n')
    const running = Promise.all(racers.map(({ child }) => child))
    let done = false
    void running.then(() => {
      done = true
    })
    const seen = new Map(names.map((id) => [id, 1]))
    let looks = 0
    for (; !done; looks += 1) {
      // Every other look is that of a reader that has verified nothing yet.
      const reader =
        looks % 2 === 0 ? store : await openTaskStore(realDisk, systemClock, dir, { readOnly: true })
      const tasks = await reader.list()
      expect(tasks.map(({ task_id }) => task_id)).toEqual(names)
      for (const task of tasks) expectStateThatWas(task, seen)
    }
    expect(looks).toBeGreaterThan(1)
    expect((await running).map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0))
    expect((await store.list()).map(({ revision }) => revision)).toEqual(names.map(() => 6))
    expect((await readFile(join(dir, 'identities.log'), 'utf8')).split('\n')).toHaveLength(49)
  })

  it('killed in the middle lose nothing that they acknowledged, and hold no lock', async () => {
    const { store, dir, reopen } = await newStore()
    const request = new TextDecoder().decode(submit('task-NUMBER', 'cmd-NUMBER'))
    for (let round = 0; round < 3; round += 1) {
      const { child, next } = start(applyUntilKilled, dir, request)
      const receipts: unknown[] = []
      for (let count = 0; count < 5 + round * 3; count += 1) receipts.push(JSON.parse(await next()))
      child.kill('SIGKILL')
      await child
      const again = await reopen()
      for (const [number, receipt] of receipts.entries()) {
        expect(await again.apply(submit(`task-${number}`, `cmd-${number}`))).toEqual(receipt)
      }
    }
    await store.apply(submit('after'))
    expect((await store.list()).every((task) => task.revision === 1)).toBe(true)
  })

  it('stopped while it holds a task lock makes others refuse store_busy, until it dies', async () => {
    const { store, dir, reopen } = await newStore(realDisk, { waitMs: 50 })
    await store.apply(submit('task-1'))
    const { child, next } = start(holdLock, join(dir, 'task', 'task-1.lock'))
    expect(await next()).toBe('held')
    child.kill('SIGSTOP')
    await refused('store_busy', store.apply(cancel('task-1', 1)))
    await refused('store_busy', (await reopen()).apply(cancel('task-1', 1)))
    expect((await store.show('task-1')).status).toBe('queued')
    await store.apply(submit('task-2'))
    child.kill('SIGKILL')
    await child
    expect((await store.apply(cancel('task-1', 1))).status).toBe('cancelled')
  })
})
