import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { isRefusal } from '../../../src/protocol/refusal.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { type Archive, openArchive } from '../../../src/store/archive.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore, type TaskStore } from '../../../src/store/tasks/store.ts'
import { fuzzRuns } from '../../support/fuzz-runs.ts'
import { refused } from '../../support/refusals.ts'
import { memoryDir } from '../../support/temp-dir.ts'
import { type Point, points } from './alterations.ts'
import { richHistory } from './history.ts'
import { cancel, correct, submit } from './samples.ts'

type Change = Point['changes'][number]

/**
 * In an ordinary run each place of a task file is altered in one way, another at each place; in a long one in every
 * way, as the small documents always are.
 */
const long = fuzzRuns(1) > 1
const longMs = 1_200_000

let dir: string
let store: TaskStore

beforeAll(async () => {
  dir = join(await memoryDir(), 'tasks')
  store = await openTaskStore(realDisk, systemClock, dir)
  await richHistory(store, 'task-1')
  await store.apply(submit('task-2', 'cmd-2'))
  await store.apply(correct('task-2', 1, 'cmd-3'))
})

/** Alters `text` at every place of it and tries what comes out. @returns how many places and alterations were tried */
async function alterEach(
  text: string,
  attempt: (altered: string, point: Point, change: Change) => Promise<void>,
  inEveryWay = true,
): Promise<{ found: number; hit: number; tried: number }> {
  const found = points(JSON.parse(text))
  let [hit, tried] = [0, 0]
  for (const [place, point] of found.entries()) {
    const chosen = inEveryWay ? point.changes : [point.changes[place % point.changes.length]]
    for (const change of chosen) {
      if (change === undefined) continue
      const altered = JSON.stringify(change.altered())
      expect(altered, `${point.where} ${change.how}`).not.toBe(text)
      await attempt(altered, point, change).catch((cause: unknown) => {
        throw new Error(`${point.where}: ${change.how}`, { cause })
      })
      tried += 1
    }
    hit += 1
  }
  return { found: found.length, hit, tried }
}

describe('a task file that is altered in one place', () => {
  it(
    'refuses, keeps its bytes, fails the list too, and works again in the same process when restored',
    async () => {
      const path = join(dir, 'task', 'task-1.json')
      const text = await readFile(path, 'utf8')
      const before = await store.list()
      let same = 0
      const counted = await alterEach(
        text,
        async (altered, point, change) => {
          await writeFile(path, altered)
          if (saysTheSame(text, point, change)) {
            same += 1
            expect(await store.list()).toEqual(before)
          } else {
            const code = isOtherSchema(point, change) ? 'unsupported_schema' : 'corrupt_store'
            await refused(code, store.show('task-1'))
            await refused(code, store.list())
          }
          expect(await readFile(path, 'utf8')).toBe(altered)
          await writeFile(path, text)
        },
        long,
      )
      expect(await store.list()).toEqual(before)
      expect(counted.hit).toBe(counted.found)
      expect(counted.found).toBeGreaterThan(1_000)
      expect(same).toBeLessThan(counted.tried / 20)
    },
    longMs,
  )

  it('works again after each of a few alterations, before the next', async () => {
    const path = join(dir, 'task', 'task-2.json')
    const text = await readFile(path, 'utf8')
    for (const point of points(JSON.parse(text))) {
      const change = point.changes.find((one) => !saysTheSame(text, point, one))
      if (change === undefined) continue
      await writeFile(path, JSON.stringify(change.altered()))
      await expect(store.apply(correct('task-2', 2))).rejects.toThrow()
      await writeFile(path, text)
      expect((await store.show('task-2')).revision).toBe(2)
      expect((await store.apply(correct('task-2', 1, 'cmd-3'))).sequence).toBe(2)
    }
  })
})

/** A key that may be null reads as null when it is not there, and sequences may have gaps, also before the last. */
function saysTheSame(text: string, { where }: Point, { how, was }: Change): boolean {
  if (how === 'removed') return was === null && !where.includes('!')
  return how === 'one more' && where === placeOfLastSequence(text)
}

function placeOfLastSequence(text: string): string {
  const events: { sequence: number }[] = JSON.parse(text).host_events ?? []
  const commands: { receipt: { sequence: number } }[] = JSON.parse(text).commands
  const [event, command] = [events.at(-1)?.sequence ?? 0, commands.at(-1)?.receipt.sequence ?? 0]
  return event > command
    ? `.host_events[${events.length - 1}].sequence`
    : `.commands[${commands.length - 1}].receipt.sequence`
}

function isOtherSchema({ where }: Pick<Point, 'where'>, { how }: Pick<Change, 'how'>): boolean {
  return where === '.schema' && (how === 'longer' || how === 'empty')
}

describe('a line of the log of ids that is altered in one place', () => {
  it(
    'refuses in a new process and in one that has seen it before, and works again when restored',
    async () => {
      const path = join(dir, 'identities.log')
      const text = await readFile(path, 'utf8')
      const before = await store.list()
      const lines = text.trimEnd().split('\n')
      const elsewhere = correct('task-2', 2)
      for (const [number, line] of lines.entries()) {
        const task: string = JSON.parse(line).task_id
        const own = correct(task, (await store.show(task)).revision)
        const altered = async (other: string) => {
          const whole = lines
            .with(number, other)
            .map((one) => `${one}\n`)
            .join('')
          await tryLog(path, whole, { own, elsewhere })
          await writeFile(path, text)
          expect(await (await openTaskStore(realDisk, systemClock, dir)).list()).toEqual(before)
          expect(await store.receiptFor(elsewhere)).toBeNull()
        }
        const counted = await alterEach(line, altered)
        expect(counted.hit).toBe(4)
        await altered(`${line}\n${line}`)
        await altered(` ${line}`)
      }
    },
    longMs,
  )
})

/** A process that has seen the log before refuses everywhere; a new one wherever the altered line is needed. */
async function tryLog(
  path: string,
  whole: string,
  { own, elsewhere }: { own: Uint8Array; elsewhere: Uint8Array },
): Promise<void> {
  await writeFile(path, whole)
  const fresh = await openTaskStore(realDisk, systemClock, dir)
  await refused('corrupt_store', fresh.list())
  await refused('corrupt_store', fresh.apply(own))
  await refused('corrupt_store', store.apply(elsewhere))
  expect(await readFile(path, 'utf8')).toBe(whole)
}

describe('the marker that is altered in one place', () => {
  it('refuses to open, for reading too, and stays as it is', async () => {
    const path = join(dir, 'store.json')
    const plain = await readFile(path, 'utf8')
    const migrated = plain.replace('}', ',"migrated_from":"tasks.v2.json"}')
    const open = (readOnly: boolean) => openTaskStore(realDisk, systemClock, dir, { readOnly })
    for (const text of [plain, migrated]) {
      const counted = await alterEach(text, async (altered, { where }, { how }) => {
        await writeFile(path, altered)
        // A store without it was never migrated: that is another marker, not a broken one.
        if (where === '.migrated_from' && how === 'removed') await open(false)
        else {
          const code = isOtherSchema({ where }, { how }) ? 'unsupported_schema' : 'corrupt_store'
          for (const readOnly of [true, false]) await refused(code, open(readOnly))
        }
        expect(await readFile(path, 'utf8')).toBe(altered)
        await writeFile(path, text)
        await open(false)
      })
      expect(counted.hit).toBe(text === plain ? 2 : 3)
    }
    await writeFile(path, plain)
  })
})

describe('the archive that is altered in one place', () => {
  it('hides nothing and refuses to be written, unless it is well formed, and works again when restored', async () => {
    const path = join(dir, 'archive.json')
    await store.apply(cancel('task-2', 2))
    const archive = openArchive(realDisk, dir)
    await archive.archive('task-2', 'smoke test', { kind: 'device', key: 'f'.repeat(64) }, 1_760_000_000)
    const text = await readFile(path, 'utf8')
    const whole = await archive.list()
    const accepted: string[] = []
    const counted = await alterEach(text, async (altered, { where }, { how }) => {
      await writeFile(path, altered)
      if (await refusesToBeWritten(archive)) {
        expect((await archive.list()).size).toBe(0)
        expect(await archive.isArchived('task-2')).toBe(false)
      } else accepted.push(`${where.replace('.tasks.task-2', '')} ${how}`)
      expect(await readFile(path, 'utf8')).toBe(altered)
      await writeFile(path, text)
      expect(await archive.list()).toEqual(whole)
      expect(await archive.restore('none')).toBe(false)
    })
    expect(counted.hit).toBe(9)
    // Nothing else keeps a copy of these, so another good value is another archive.
    expect(accepted).toEqual([
      ' removed',
      '.at one more',
      '.at one less',
      '.reason longer',
      '.by.key another digit',
    ])
  })
})

/** Restoring a task that is not there writes nothing, but looks at the archive as every write does. */
async function refusesToBeWritten(archive: Archive): Promise<boolean> {
  try {
    await archive.restore('none')
    return false
  } catch (error) {
    if (isRefusal(error, 'corrupt_store')) return true
    throw error
  }
}
