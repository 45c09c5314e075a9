import { createHash } from 'node:crypto'
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJournal } from '../../src/commands/journal-store.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import { realDisk } from '../../src/store/disk.ts'
import { openDesk, phone, tablet } from '../support/command-desk.ts'
import { refused } from '../support/refusals.ts'
import { beginTurn, runTurn } from '../support/turns.ts'

const task = 'task-1'

describe('the journal file', () => {
  it('is private, and readable without a lock while it is being written', async () => {
    const desk = await openDesk(task)
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    expect((await stat(desk.path)).mode & 0o777).toBe(0o600)
    desk.disk.beforeWrite = async () => {
      expect((await readJournal(realDisk, desk.dir))?.entries).toHaveLength(1)
    }
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    expect((await readJournal(realDisk, desk.dir))?.entries).toHaveLength(2)
  })

  it('is written by nobody else meanwhile: its lock is held through the write', async () => {
    const desk = await openDesk(task)
    desk.disk.beforeWrite = async () => {
      await refused('store_busy', realDisk.lock(join(desk.dir, 'commands.lock'), 0))
    }
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    const lock = await realDisk.lock(join(desk.dir, 'commands.lock'), 0)
    await lock.release()
  })
})

describe('group commit', () => {
  it('lets whatever arrives while a write is syncing join the next', async () => {
    const tasks = Array.from({ length: 16 }, (_, index) => `task-${index}`)
    const desk = await openDesk(...tasks)
    const before = desk.disk.journalWrites
    const states = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        desk.commands.record(phone, desk.mint(tasks[index % 16] ?? '', 'queue')),
      ),
    )
    expect(states.every((state) => state.state === 'held')).toBe(true)
    expect(desk.disk.journalWrites - before).toBeLessThanOrEqual(6)
  })

  it('does not tell anybody before the write that has the command is durable', async () => {
    const desk = await openDesk(task)
    let durable = false
    desk.disk.beforeWrite = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      durable = true
    }
    const told = desk.commands.record(phone, desk.mint(task, 'queue')).then(() => expect(durable).toBe(true))
    await told
  })
})

describe('the mark that a command is done', () => {
  it('rides on the next write', async () => {
    const desk = await openDesk(task)
    await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop'))
    expect((await desk.file()).entries[0]?.state.state).toBe('dispatching')
    await desk.commands.record(phone, desk.mint(task, 'queue'))
    expect((await desk.file()).entries[0]?.state).toEqual({ state: 'done', outcome: 'applied', revision: 2 })
  })

  it('is written by itself after a second of silence', async () => {
    const desk = await openDesk(task)
    await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop'))
    const before = desk.disk.journalWrites
    await desk.clock.advance(1_000)
    await desk.commands.close()
    expect(desk.disk.journalWrites - before).toBe(1)
    expect((await desk.file()).entries[0]?.state.state).toBe('done')
  })

  it('is written when the commands are closed', async () => {
    const desk = await openDesk(task)
    await desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop'))
    await desk.commands.close()
    expect((await desk.file()).entries[0]?.state.state).toBe('done')
    await refused('unavailable', desk.commands.record(phone, desk.mint(task, 'queue')))
  })
})

describe('a journal that cannot be believed', () => {
  const spoil: [string, (path: string) => Promise<void>][] = [
    ['malformed', (path) => writeFile(path, '{"schema":')],
    ['empty', (path) => writeFile(path, '')],
    ['of another schema', (path) => writeFile(path, '{"schema":"another.v1","entries":[],"leases":[]}')],
    ['oversized', (path) => writeFile(path, Buffer.alloc(33_554_433, 0x20))],
    ['missing', (path) => rm(path)],
    ['open to others', (path) => chmod(path, 0o644)],
  ]
  for (const [what, act] of spoil) {
    it(`refuses every command as unavailable when it is ${what}, is never overwritten, and is named`, async () => {
      const desk = await openDesk(task)
      const request = desk.mint(task, 'queue')
      await desk.commands.record(phone, request)
      await desk.commands.close()
      await act(desk.path)
      const before = await digestOf(desk.path)
      await desk.restart()
      await refused('unavailable', desk.commands.record(phone, request))
      await refused('unavailable', desk.commands.record(phone, desk.mint(task, 'interrupt', 'Stop')))
      await refused('unavailable', desk.commands.edit(phone, task, { action: 'list' }))
      await desk.commands.evaluateAll()
      await desk.commands.close()
      expect(await digestOf(desk.path)).toBe(before)
      expect(desk.lines.join('\n')).toContain(desk.path)
    })

    it(`that becomes ${what} while the service runs is noticed before the next write`, async () => {
      const desk = await openDesk(task)
      const request = desk.mint(task, 'queue')
      await desk.commands.record(phone, request)
      await act(desk.path)
      const before = await digestOf(desk.path)
      await refused('unavailable', desk.commands.record(phone, desk.mint(task, 'queue')))
      await refused('unavailable', desk.commands.record(phone, request))
      expect(await digestOf(desk.path)).toBe(before)
    })
  }

  it('is read again once it was put right', async () => {
    const desk = await openDesk(task)
    const request = desk.mint(task, 'queue')
    await desk.commands.record(phone, request)
    const good = await readFile(desk.path)
    await writeFile(desk.path, 'broken')
    await refused('unavailable', desk.commands.record(phone, desk.mint(task, 'queue')))
    await writeFile(desk.path, good)
    expect(await desk.commands.record(phone, request)).toEqual({ state: 'held', priority: false })
  })
})

describe('a write that fails', () => {
  it('refuses those who waited as unavailable, and the next works again', async () => {
    const desk = await openDesk(task)
    await runTurn(desk.tasks, task)
    const request = desk.mint(task, 'send', 'Next.', { based_on: 5 })
    desk.disk.beforeWrite = () => {
      throw new Refusal('io', 'no space left')
    }
    await refused('unavailable', desk.commands.record(phone, request))
    expect((await desk.tasks.show(task)).revision).toBe(5)
    desk.disk.beforeWrite = () => {}
    expect(await desk.commands.record(phone, request)).toMatchObject({ outcome: 'applied' })
    expect((await desk.tasks.show(task)).follow_ups).toHaveLength(1)
  })

  it('is no loss for what was acknowledged before', async () => {
    const desk = await openDesk(task)
    await beginTurn(desk.tasks, task)
    await desk.commands.record(phone, desk.mint(task, 'queue', 'Kept.'))
    desk.disk.beforeWrite = () => {
      throw new Refusal('io', 'no space left')
    }
    await refused('unavailable', desk.commands.record(tablet, desk.mint(task, 'queue', 'Not kept.')))
    await refused('unavailable', desk.commands.edit(phone, task, { action: 'lease' }))
    desk.disk.beforeWrite = () => {}
    const queue = await desk.commands.edit(phone, task, { action: 'list' })
    expect(queue).toMatchObject({ lease: null, items: [{ text: 'Kept.' }] })
  })
})

/** A digest, since comparing 32 MiB by value takes minutes. */
async function digestOf(path: string): Promise<string> {
  return await readFile(path).then(
    (bytes) => createHash('sha256').update(bytes).digest('hex'),
    () => 'missing',
  )
}
