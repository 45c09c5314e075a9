import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/seams/clock.ts'
import { withSettingsLock } from '../../src/store/settings-lock.ts'
import { refused } from '../support/refusals.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'drawbridge-test-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('the lock of a settings file', () => {
  it('lets one change follow another, so that none is lost', async () => {
    const path = join(folder, 'settings.json')
    await writeFile(path, '0')
    const add = () =>
      withSettingsLock(systemClock, path, async () => {
        const number = Number(await readFile(path, 'utf8'))
        await new Promise<void>((resolve) => setImmediate(resolve))
        await writeFile(path, String(number + 1))
      })
    await Promise.all([add(), add(), add(), add()])
    expect(await readFile(path, 'utf8')).toBe('4')
  })

  it('works for a file that does not exist yet, and is free again after a failure', async () => {
    const path = join(folder, 'none.json')
    const failing = withSettingsLock(systemClock, path, async () => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await withSettingsLock(systemClock, path, async () => 'free')).toBe('free')
  })

  it('refuses store_busy while another holds it', async () => {
    const path = join(folder, 'settings.json')
    await withSettingsLock(systemClock, path, async () => {
      await refused(
        'store_busy',
        withSettingsLock(systemClock, path, async () => 'never'),
      )
    })
  }, 20_000)

  it('refuses io where there is no directory', async () => {
    await refused(
      'io',
      withSettingsLock(systemClock, join(folder, 'none/settings.json'), async () => 'never'),
    )
  })
})
