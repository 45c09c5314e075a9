import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../src/store/disk.ts'
import { refused } from '../support/refusals.ts'
import { tempDir } from '../support/temp-dir.ts'

/** Starts another process that holds the lock at `path`. */
async function holdElsewhere(path: string) {
  const program = new URL('../fixtures/store/hold-lock.ts', import.meta.url).pathname
  const holder = execa(process.execPath, ['--import', 'tsx', program, path], { reject: false })
  await new Promise<void>((resolve) => holder.stdout.once('data', () => resolve()))
  // In a record, because the process is itself a promise of its end.
  return { holder }
}

describe('a kernel lock', () => {
  it('excludes another caller of this process until it is released', async () => {
    const path = join(await tempDir(), 'a.lock')
    const lock = await realDisk.lock(path, 0, { create: true })
    await refused('store_busy', realDisk.lock(path, 0))
    await refused('store_busy', realDisk.lock(path, 20))
    await lock.release()
    await lock.release()
    const again = await realDisk.lock(path, 0)
    await again.release()
  })

  it('is given to the callers of one process in the order they asked', async () => {
    const path = join(await tempDir(), 'a.lock')
    const order: number[] = []
    const first = await realDisk.lock(path, 0, { create: true })
    const others = [1, 2, 3].map(async (place) => {
      const lock = await realDisk.lock(path, 5_000)
      order.push(place)
      await lock.release()
    })
    await first.release()
    await Promise.all(others)
    expect(order).toEqual([1, 2, 3])
  })

  it('is not created unless asked', async () => {
    const directory = await tempDir()
    await refused('io', realDisk.lock(join(directory, 'a.lock'), 0))
    expect(await readdir(directory)).toEqual([])
  })

  it('knows that its file was replaced or removed', async () => {
    const path = join(await tempDir(), 'a.lock')
    const lock = await realDisk.lock(path, 0, { create: true })
    expect(await lock.stillThere()).toBe(true)
    await rename(path, `${path}.old`)
    expect(await lock.stillThere()).toBe(false)
    await writeFile(path, '', { mode: 0o600 })
    expect(await lock.stillThere()).toBe(false)
    await lock.release()
    expect(await lock.stillThere()).toBe(false)
  })

  it('held by another process refuses store_busy, also while the holder is stopped, and frees at its death', async () => {
    const path = join(await tempDir(), 'a.lock')
    const { holder } = await holdElsewhere(path)
    await refused('store_busy', realDisk.lock(path, 0))
    holder.kill('SIGSTOP')
    await refused('store_busy', realDisk.lock(path, 50))
    const waiting = realDisk.lock(path, 10_000)
    holder.kill('SIGKILL')
    await holder
    const lock = await waiting
    expect(await lock.stillThere()).toBe(true)
    await lock.release()
  })

  it('is not inherited by a child that outlives the release', async () => {
    const path = join(await tempDir(), 'a.lock')
    const lock = await realDisk.lock(path, 0, { create: true })
    const child = execa('sleep', ['60'], { reject: false })
    await lock.release()
    const again = await realDisk.lock(path, 0)
    await again.release()
    child.kill('SIGKILL')
    await child
  })
})
