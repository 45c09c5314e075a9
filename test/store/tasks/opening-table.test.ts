import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { creatorWaitMs } from '../../../src/limits.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { refused } from '../../support/refusals.ts'
import { memoryDir } from '../../support/temp-dir.ts'

const parts = ['tasks.lock', 'store.json', 'tasks.json', '.tasks.pending', 'task', 'identities.log'] as const
type Part = (typeof parts)[number]

const marker = '{"schema":"openagents.coder.task-store.v3"}'
const legacy = '{"schema":"openagents.coder.task-store.v2"}'

/** Every set of parts. */
const everySet: Part[][] = Array.from({ length: 2 ** parts.length }, (_, bits) =>
  parts.filter((_part, place) => (bits & (2 ** place)) !== 0),
)

/** What an older program kept, and nothing newer, is migrated, which is another story. */
const isMigrated = (there: readonly Part[]) =>
  there.includes('tasks.lock') && there.includes('tasks.json') && !there.includes('store.json')
const combinations = everySet.filter((there) => !isMigrated(there))

type Outcome = 'made' | 'opened' | 'corrupt_store' | 'not_found'

/** What the page says of a store that holds these parts. */
function expected(there: readonly Part[], readOnly: boolean): Outcome {
  const has = (part: Part) => there.includes(part)
  // A new store makes its lock first, so whatever else is there has lost it.
  if (!has('tasks.lock') && there.length > 0) return 'corrupt_store'
  if (!has('tasks.lock')) return readOnly ? 'not_found' : 'made'
  if (has('store.json')) return has('task') && has('identities.log') ? 'opened' : 'corrupt_store'
  return 'corrupt_store'
}

/** Time that runs fast, so that waiting for whoever made the lock file takes none. */
function hurriedClock() {
  let nowMs = 0
  return { ...systemClock, nowMs: () => (nowMs += creatorWaitMs / 2) }
}

async function storeOf(there: readonly Part[]): Promise<string> {
  const dir = join(await memoryDir(), 'tasks')
  await mkdir(dir, { mode: 0o700 })
  for (const part of there) {
    if (part === 'task') await mkdir(join(dir, part), { mode: 0o700 })
    else await writeFile(join(dir, part), contentOf(part), { mode: 0o600 })
  }
  return dir
}

function contentOf(part: Part): string {
  if (part === 'store.json') return marker
  return part === 'tasks.json' || part === '.tasks.pending' ? legacy : ''
}

async function everything(dir: string): Promise<unknown[]> {
  const names = (await readdir(dir)).sort()
  return Promise.all(
    names.map(async (name) => [name, name === 'task' ? '' : await readFile(join(dir, name), 'utf8')]),
  )
}

/** A store as it is opened: what older programs left is put away. */
function afterwards(there: readonly Part[]): string[] {
  const backup = there.includes('tasks.json') ? ['tasks.v2.json'] : []
  return ['identities.log', 'store.json', 'task', 'tasks.lock', ...backup].sort()
}

const named = (there: readonly Part[]) => (there.length === 0 ? 'nothing' : there.join(', '))

describe('a directory that holds some of the parts of a store', () => {
  const cases = combinations.map((there) => [named(there), expected(there, false), there] as const)
  it('holds one of 64 sets of them, 8 of which are migrated', () => {
    expect([everySet.length, new Set(cases.map(([name]) => name)).size]).toEqual([64, 56])
    const count = (wanted: Outcome) => cases.filter(([, outcome]) => outcome === wanted).length
    expect([count('made'), count('opened'), count('corrupt_store')]).toEqual([1, 4, 51])
  })

  it.each(cases)('%s: %s', async (_name, outcome, there) => {
    const dir = await storeOf(there)
    const before = await everything(dir)
    const opening = () => openTaskStore(realDisk, hurriedClock(), dir)
    if (outcome === 'made' || outcome === 'opened') {
      expect(await (await opening()).list()).toEqual([])
      expect((await readdir(dir)).sort()).toEqual(afterwards(there))
      return
    }
    await refused('corrupt_store', opening)
    expect(await everything(dir)).toEqual(before)
  })

  it.each(combinations.map((there) => [named(there), expected(there, true), there] as const))(
    '%s, opened for reading: %s, and nothing is made, moved or cleaned',
    async (_name, outcome, there) => {
      const dir = await storeOf(there)
      const before = await everything(dir)
      const opening = () => openTaskStore(realDisk, hurriedClock(), dir, { readOnly: true })
      if (outcome === 'opened') expect(await (await opening()).list()).toEqual([])
      else await refused(outcome === 'not_found' ? 'not_found' : 'corrupt_store', opening)
      expect(await everything(dir)).toEqual(before)
    },
  )
})
