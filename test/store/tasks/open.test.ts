import { chmod, link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/seams/clock.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { refused } from '../../support/refusals.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { bytes, newStore, submit } from './samples.ts'

const open = (dir: string) => openTaskStore(realDisk, systemClock, dir)
const put = (path: string, text = '') => writeFile(path, text, { mode: 0o600 })

describe('opening a new store', () => {
  it('makes its parts, private, and the marker exactly', async () => {
    const { dir } = await newStore()
    expect((await readdir(dir)).sort()).toEqual(['identities.log', 'store.json', 'task', 'tasks.lock'])
    for (const name of ['identities.log', 'store.json', 'tasks.lock']) {
      expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600)
    }
    for (const path of [dir, join(dir, 'task')]) expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect(await readFile(join(dir, 'store.json'), 'utf8')).toBe(
      '{"schema":"openagents.coder.task-store.v3"}',
    )
    expect(await readFile(join(dir, 'identities.log'), 'utf8')).toBe('')
  })

  it('takes a directory that is empty, and refuses a relative path', async () => {
    const dir = join(await tempDir(), 'tasks')
    await mkdir(dir, { mode: 0o700 })
    await (await open(dir)).apply(submit('task-1'))
    await refused('unsafe_path', open('tasks'))
  })

  it('by many at once makes one store', async () => {
    const dir = join(await tempDir(), 'tasks')
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(dir)))
    await Promise.all(stores.map((store, place) => store.apply(submit(`task-${place}`))))
    for (const store of stores) expect(await store.list()).toHaveLength(8)
  })
})

describe('opening a store that lost a part', () => {
  it.each(['store.json', 'task', 'tasks.json', '.tasks.pending'])(
    'refuses corrupt_store when %s is there without tasks.lock, and makes nothing',
    async (name) => {
      const dir = join(await tempDir(), 'tasks')
      await mkdir(join(dir, name === 'task' ? 'task' : ''), { recursive: true, mode: 0o700 })
      if (name !== 'task') await put(join(dir, name), '{}')
      await refused('corrupt_store', open(dir))
      await refused('corrupt_store', openTaskStore(realDisk, systemClock, dir, { readOnly: true }))
      expect(await readdir(dir)).toEqual([name])
    },
  )

  it.each(['task', 'identities.log'])('refuses corrupt_store without %s', async (name) => {
    const { dir } = await newStore()
    await rm(join(dir, name), { recursive: true })
    await refused('corrupt_store', open(dir))
    await refused('corrupt_store', openTaskStore(realDisk, systemClock, dir, { readOnly: true }))
    expect(await readdir(dir)).not.toContain(name)
  })

  it('waits 5 s for whoever made the lock file to write the marker, then refuses corrupt_store', async () => {
    const { dir } = await newStore()
    await rm(join(dir, 'store.json'))
    const clock = fakeClock()
    let settled = false
    const opening = refused('corrupt_store', openTaskStore(realDisk, clock, dir)).finally(() => {
      settled = true
    })
    await waitFor(() => clock.pending() > 0)
    await clock.advance(10)
    expect(settled).toBe(false)
    clock.jump(4_990)
    await waitFor(() => clock.pending() > 0)
    await clock.advance(10)
    await opening
    expect(await readdir(dir)).not.toContain('store.json')
  })

  it('goes on as soon as the marker appears', async () => {
    const { dir } = await newStore()
    const marker = await readFile(join(dir, 'store.json'), 'utf8')
    await rm(join(dir, 'store.json'))
    const opening = open(dir)
    await realDisk.replace(join(dir, 'store.json'), bytes(marker))
    await (await opening).apply(submit('task-1'))
  })
})

describe('the marker', () => {
  it.each([
    ['unsupported_schema', '{"schema":"openagents.coder.task-store.v4"}'],
    ['corrupt_store', ''],
    ['corrupt_store', '{"schema":"openagents.coder.task-store.v3"'],
    ['corrupt_store', '{"schema":"openagents.coder.task-store.v3","more":1}'],
    ['corrupt_store', '{"schema":"openagents.coder.task-store.v3","migrated_from":"x"}'],
    ['limit_exceeded', `{"schema":"openagents.coder.task-store.v3"}${' '.repeat(65_536)}`],
  ] as const)('refuses %s for %j and stays as it is', async (code, text) => {
    const { dir } = await newStore()
    await put(join(dir, 'store.json'), text)
    await refused(code, open(dir))
    expect(await readFile(join(dir, 'store.json'), 'utf8')).toBe(text)
  })

  it('may say that the store was migrated', async () => {
    const { dir } = await newStore()
    await put(
      join(dir, 'store.json'),
      '{"schema":"openagents.coder.task-store.v3","migrated_from":"tasks.v2.json"}',
    )
    await open(dir)
  })
})

describe('what an older program left', () => {
  it('refuses corrupt_store when it does not hold together, and is left alone', async () => {
    const { dir } = await newStore()
    await rm(join(dir, 'store.json'))
    await put(join(dir, 'tasks.json'), '{"schema":"openagents.coder.task-store.v2"}')
    const before = await readdir(dir)
    await refused('corrupt_store', open(dir))
    await refused('unsupported_schema', openTaskStore(realDisk, systemClock, dir, { readOnly: true }))
    expect(await readdir(dir)).toEqual(before)
  })

  it('is put out of the way beside a store: the document kept under a free name, the unfinished file removed', async () => {
    const { dir } = await newStore()
    await put(join(dir, 'tasks.v2.json'), 'older')
    await put(join(dir, 'tasks.json'), 'newer')
    await put(join(dir, '.tasks.pending'), 'half')
    await open(dir)
    expect(await readFile(join(dir, 'tasks.v2.1.json'), 'utf8')).toBe('newer')
    expect(await readFile(join(dir, 'tasks.v2.json'), 'utf8')).toBe('older')
    expect(await readdir(dir)).not.toContain('.tasks.pending')
  })
})

describe('a store that others could reach', () => {
  it('refuses unsafe_path and keeps its modes; nothing is made in a wide directory', async () => {
    const wide = join(await tempDir(), 'wide')
    await mkdir(wide)
    await chmod(wide, 0o750)
    await refused('unsafe_path', open(wide))
    expect(await readdir(wide)).toEqual([])
    expect((await stat(wide)).mode & 0o777).toBe(0o750)
  })

  it('refuses unsafe_path through a link', async () => {
    const { dir } = await newStore()
    await symlink(dir, `${dir}-link`)
    await refused('unsafe_path', open(`${dir}-link`))
    await refused('unsafe_path', openTaskStore(realDisk, systemClock, `${dir}-link`, { readOnly: true }))
  })

  it.each(['store.json', 'identities.log', 'tasks.lock'])(
    'refuses unsafe_path for a hard link to %s',
    async (name) => {
      const { dir } = await newStore()
      await link(join(dir, name), join(dir, '..', 'elsewhere'))
      await refused('unsafe_path', open(dir))
      await rm(join(dir, '..', 'elsewhere'))
      await open(dir)
    },
  )

  it.each(['store.json', 'identities.log', 'tasks.lock', 'task'])(
    'refuses unsafe_path for a wide mode of %s',
    async (name) => {
      const { dir } = await newStore()
      await chmod(join(dir, name), name === 'task' ? 0o755 : 0o644)
      await refused('unsafe_path', open(dir))
    },
  )

  it('on an open handle is found at the next call', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    for (const path of [dir, join(dir, 'task')]) {
      await chmod(path, 0o711)
      await refused('unsafe_path', store.list())
      await refused('unsafe_path', store.apply(submit('task-2')))
      await chmod(path, 0o700)
    }
    expect(await store.list()).toHaveLength(1)
    await link(join(dir, 'task', 'task-1.json'), join(dir, 'copy'))
    await refused('unsafe_path', store.show('task-1'))
    await refused('unsafe_path', store.list())
  })

  it('whose lock was replaced refuses unsafe_path on every call of the open handle', async () => {
    const { store, dir, reopen } = await newStore()
    await store.apply(submit('task-1'))
    await rename(join(dir, 'tasks.lock'), join(dir, 'old.lock'))
    await refused('unsafe_path', store.show('task-1'))
    await put(join(dir, 'tasks.lock'))
    await refused('unsafe_path', store.show('task-1'))
    await refused('unsafe_path', store.apply(submit('task-2')))
    await (await reopen()).show('task-1')
  })
})

describe('a store opened for reading', () => {
  it('shows what is there and takes no lock', async () => {
    const { store, dir } = await newStore()
    await store.apply(submit('task-1'))
    const held = await realDisk.lock(join(dir, 'tasks.lock'), 0)
    const reader = await openTaskStore(realDisk, systemClock, dir, { readOnly: true })
    expect((await reader.list()).map((task) => task.task_id)).toEqual(['task-1'])
    await held.release()
    await refused('io', reader.apply(submit('task-2')))
    await refused('io', reader.lockTask('task-1'))
    expect(await store.list()).toHaveLength(1)
  })

  it('is never made: not_found without one', async () => {
    const dir = await tempDir()
    await refused('not_found', openTaskStore(realDisk, systemClock, join(dir, 'none'), { readOnly: true }))
    await refused('not_found', openTaskStore(realDisk, systemClock, dir, { readOnly: true }))
    expect(await readdir(dir)).toEqual([])
  })
})

it('refuses store_busy when the lock is held past the wait', async () => {
  const { dir } = await newStore()
  const held = await realDisk.lock(join(dir, 'tasks.lock'), 0)
  await refused('store_busy', openTaskStore(realDisk, systemClock, dir, { waitMs: 20 }))
  await held.release()
  await open(dir)
})

async function waitFor(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
