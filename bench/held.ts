import { type FSWatcher, watch } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Operation } from '../src/protocol/operations.ts'
import { loadFastCrypto } from '../src/protocol/signer.ts'
import { nowSeconds, systemClock } from '../src/seams/clock.ts'
import type { DiskLock } from '../src/seams/disk.ts'
import { randomId, systemRandom } from '../src/seams/random.ts'
import { realDisk } from '../src/store/disk.ts'
import { openTaskStore, type TaskStore } from '../src/store/tasks/store.ts'
import { beginTurn, endTurn } from '../test/support/turns.ts'
import { connect, createTask } from './command.ts'
import { durableAppend, durableReplace } from './floors/durable.ts'
import { compare, quantile } from './measure.ts'
import { setStage } from './stage.ts'

const rounds = 60
const targetMs = 50

/**
 * From the end of a turn, as its owner in another process begins to record it, to the held message applied as the next
 * turn, in turn with the floor: the same durable writes, and the two events of a watched directory between them.
 */
export async function held(): Promise<void> {
  await loadFastCrypto()
  const stage = await setStage()
  const tasks = await openTaskStore(realDisk, systemClock, join(stage.home, 'tasks'))
  const floor = await openFloor(stage.home)
  const product: number[] = []
  const least: number[] = []
  const changes = watched(join(stage.home, 'tasks', 'task'))
  try {
    const ask = await connect(stage)
    const task = await createTask(ask)
    for (let round = 0; round <= rounds; round += 1) {
      const owner = await realDisk.lock(tasks.ownerLockPath(task), 0, { create: true })
      await beginTurn(tasks, task, owner)
      await ask(message(task))
      const ms = await nextTurn(tasks, task, owner, changes)
      await owner.release()
      const bare = await floor.round()
      if (round === 0) continue
      product.push(ms)
      least.push(bare)
    }
    compare('held: turn ends → held message applied', product, least)
    const median = quantile(product, 0.5)
    const verdict = median <= targetMs ? 'met' : 'missed'
    console.log(`  median ${median.toFixed(1)} ms (target ≤ ${targetMs} ms: ${verdict})`)
  } finally {
    changes.close()
    floor.close()
    await tasks.close()
    await stage.strike()
  }
}

/** Ends the turn; milliseconds until its task is queued again. */
async function nextTurn(tasks: TaskStore, task: string, owner: DiskLock, changes: Changes): Promise<number> {
  const start = performance.now()
  const ended = endTurn(tasks, task, {}, owner)
  for (;;) {
    const changed = changes.next(`${task}.json`)
    if ((await tasks.show(task)).status === 'queued') break
    await changed
  }
  const ms = performance.now() - start
  await ended
  return ms
}

interface Changes {
  /** Resolves at the next event of this name. */
  next(name: string): Promise<void>
  close(): void
}

function watched(directory: string): Changes {
  const waiting = new Map<string, () => void>()
  const watcher: FSWatcher = watch(directory, (_event, name) => waiting.get(name ?? '')?.())
  return {
    next: (name) => new Promise((resolve) => void waiting.set(name, resolve)),
    close: () => watcher.close(),
  }
}

function message(task: string): Operation {
  const issued_at = nowSeconds(systemClock)
  const asked = { command: randomId(systemRandom), task, action: 'queue' as const, based_on: 1 }
  return { kind: 'task.command', command: { ...asked, text: 'And then this.', emulate: false, issued_at } }
}

/** The writes of a turn's end and of the next turn's beginning, of the sizes that the service's own files have now. */
async function openFloor(home: string) {
  const directory = join(home, 'floor')
  await mkdir(directory)
  const changes = watched(directory)
  const log = await open(join(home, 'floor.log'), 'a', 0o600)
  const identity = Buffer.alloc(180, 'i')
  const sizeOf = async (path: string) => (await stat(path)).size
  return {
    async round(): Promise<number> {
      const journal = Buffer.alloc(await sizeOf(join(home, 'tasks', 'commands.json')), 'j')
      const task = Buffer.alloc(8_192, 't')
      const start = performance.now()
      const ended = changes.next('ended')
      await Promise.all([ended, durableReplace(directory, 'ended', task)])
      await durableReplace(directory, 'journal', journal)
      await durableAppend(log, identity)
      const began = changes.next('began')
      await Promise.all([began, durableReplace(directory, 'began', task)])
      return performance.now() - start
    },
    async close() {
      changes.close()
      await log.close()
    },
  }
}
