import { chmod, link, lstat, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/seams/clock.ts'
import { openArchive } from '../../../src/store/archive.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore, type TaskStore } from '../../../src/store/tasks/store.ts'
import { refused } from '../../support/refusals.ts'
import { memoryDir } from '../../support/temp-dir.ts'
import { admitted, cancel, correct, submit } from './samples.ts'

/** Puts something else at `path`, where a good file or directory is. @returns how it is taken away again */
type Misuse = (path: string) => Promise<() => Promise<void>>

const instead =
  (make: (path: string, good: string) => Promise<unknown>): Misuse =>
  async (path) => {
    const good = join(path, '..', '..', 'good')
    await rename(path, good)
    await make(path, good)
    return async () => {
      await rm(path, { recursive: true, force: true })
      await rename(good, path)
    }
  }

const wider =
  (bits: number): Misuse =>
  async (path) => {
    const mode = (await lstat(path)).mode & 0o777
    await chmod(path, mode | bits)
    return () => chmod(path, mode)
  }

const linked = instead((path, good) => symlink(good, path))
const fifo = instead((path) => execa('mkfifo', ['-m', '600', path]))
const modes: [string, Misuse][] = [0o040, 0o020, 0o010, 0o004, 0o002, 0o001].map((bits) => [
  `a mode with ${bits.toString(8).padStart(2, '0')}`,
  wider(bits),
])

const file: [string, Misuse][] = [
  ...modes,
  ['a link to it', linked],
  ['a link to nothing', instead((path) => symlink('/nowhere/at/all', path))],
  ['a fifo', fifo],
  ['a directory', instead((path) => mkdir(path, { mode: 0o700 }))],
  ['a socket', socket],
  [
    'a second hard link',
    async (path) => {
      const other = join(path, '..', '..', 'other-name')
      await link(path, other)
      return () => rm(other)
    },
  ],
]

const directory: [string, Misuse][] = [
  ...modes,
  ['a link to it', linked],
  ['a fifo', fifo],
  ['a file', instead((path) => writeFile(path, '', { mode: 0o600 }))],
]

async function socket(path: string): Promise<() => Promise<void>> {
  const server = createServer()
  const putBack = await instead(async (at) => {
    await new Promise<void>((resolve) => server.listen(at, resolve))
    await chmod(at, 0o600)
  })(path)
  return async () => {
    // Closing removes the socket by its path.
    await new Promise((resolve) => server.close(resolve))
    await putBack()
  }
}

interface Stage {
  readonly dir: string
  readonly store: TaskStore
  open(readOnly?: boolean): Promise<TaskStore>
  archive(): Promise<boolean>
}
type Use = (stage: Stage) => Promise<unknown>

/** A store in which every file of the page is there. */
async function stage(): Promise<Stage> {
  const dir = join(await memoryDir(), 'tasks')
  const reopen = () => openTaskStore(realDisk, systemClock, dir)
  const store = await reopen()
  await store.apply(submit('task-1'))
  await store.apply(submit('ended'))
  await store.apply(cancel('ended', 1))
  await store.apply(submit('running'))
  await store.record('running', admitted(await store.show('running')), 1)
  const archive = openArchive(realDisk, dir)
  await archive.archive('ended', 'smoke test', { kind: 'owner' }, 1)
  return {
    dir,
    store,
    open: (readOnly = false) =>
      readOnly ? openTaskStore(realDisk, systemClock, dir, { readOnly }) : reopen(),
    archive: () => openArchive(realDisk, dir).restore('none'),
  }
}

const show: Use = ({ store }) => store.show('task-1')
const list: Use = ({ store }) => store.list()
const apply: Use = ({ store }) => store.apply(correct('task-1', 1))
const open: Use = (on) => on.open()
const read: Use = (on) => on.open(true)
const admit: Use = async ({ store }) => store.record('task-1', admitted(await store.show('task-1')), 1)

/** What is misused, what refuses then, and what does not need it. */
const cases: [string, [string, Misuse][], Use[], Use[]][] = [
  ['.', directory, [open, read, show, list, apply, ({ archive }) => archive()], []],
  ['task', directory, [open, read, show, list, apply], []],
  ['store.json', file, [open, read], [show]],
  ['identities.log', file, [open, read, apply], [show, list]],
  ['tasks.lock', file, [open, apply], []],
  ['workspaces.lock', file, [admit], [open, read, show, list]],
  ['task/task-1.json', file, [show, list, apply, async (on) => (await on.open()).list()], [open, read]],
  ['task/task-1.lock', file, [apply, ({ store }) => store.lockTask('task-1')], [open, show, list]],
  ['archive.json', file, [({ archive }) => archive()], [open, list]],
  ['archive.lock', file, [({ archive }) => archive()], [open, list]],
]

describe.each(cases)('%s', (name, misuses, refusing, others) => {
  it.each(misuses)(
    'replaced by %s refuses unsafe_path, is left alone, and works when it is put back',
    async (_how, misuse) => {
      const on = await stage()
      const path = join(on.dir, name)
      const putBack = await misuse(path)
      const before = await lstat(path)
      for (const use of refusing) await refused('unsafe_path', use(on))
      for (const use of others) await use(on)
      const { ino, mode, nlink, size } = await lstat(path)
      expect([ino, mode, nlink, size]).toEqual([before.ino, before.mode, before.nlink, before.size])
      await putBack()
      await on.open()
      expect(await on.store.list()).toHaveLength(3)
      expect((await on.store.apply(correct('task-1', 1))).revision).toBe(2)
      expect(await on.archive()).toBe(false)
      expect((await openArchive(realDisk, on.dir).list()).size).toBe(1)
    },
  )
})

it('an archive that is no private file hides nothing', async () => {
  const { dir } = await stage()
  const putBack = await wider(0o004)(join(dir, 'archive.json'))
  expect((await openArchive(realDisk, dir).list()).size).toBe(0)
  await putBack()
})

it('a lock file that was replaced makes every call of the handle refuse, and of no other', async () => {
  const on = await stage()
  await rename(join(on.dir, 'tasks.lock'), join(on.dir, 'old'))
  await writeFile(join(on.dir, 'tasks.lock'), '', { mode: 0o600 })
  for (const use of [show, list, apply, admit, ({ store }: Stage) => store.submitRequest('task-1')]) {
    await refused('unsafe_path', use(on))
  }
  expect(await (await on.open()).list()).toHaveLength(3)
  await rename(join(on.dir, 'old'), join(on.dir, 'tasks.lock'))
  expect(await on.store.list()).toHaveLength(3)
})
