import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { silentLog } from '../../src/bridge/log.ts'
import { openTold } from '../../src/bridge/told.ts'
import { toldBytesMax, toldSaveMs } from '../../src/limits.ts'
import { Refusal } from '../../src/protocol/refusal.ts'
import { realDisk } from '../../src/store/disk.ts'
import { id } from '../support/access.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { tempDir } from '../support/temp-dir.ts'

const clock = fakeClock()
const queued = { task: id(1), revision: 1, phase: 'queued' } as const
const running = { task: id(1), revision: 2, phase: 'running' } as const
let path: string

beforeEach(async () => {
  path = join(await tempDir(), 'told.json')
})
const open = (disk = realDisk) => openTold({ disk, clock, log: silentLog }, path)

describe('what devices were told', () => {
  it('is no news again, and what is older never is', async () => {
    const told = await open()
    expect([queued, queued, running, queued, running].map(told.isNews)).toEqual([
      true,
      false,
      true,
      false,
      false,
    ])
    expect(told.isNews({ ...running, phase: 'failed' })).toBe(true)
    told.forget(id(1))
    expect(told.isNews(queued)).toBe(true)
    await told.close()
  })

  it('is remembered by the next service, after a few seconds also by one that follows a crash', async () => {
    const told = await open()
    expect(told.isFirst).toBe(true)
    told.isNews(queued)
    await clock.advance(toldSaveMs)
    await expect.poll(() => readFile(path, 'utf8').catch(() => '')).toContain(id(1))
    const next = await open()
    expect([next.isFirst, next.isNews(queued), next.isNews(running)]).toEqual([false, false, true])
    await next.close()
    expect((await open()).isNews(running)).toBe(false)
    await told.close()
  })

  it.each([
    ['torn', '{"schema":"drawbridge.told.v1","tas'],
    ['of another schema', '{"schema":"drawbridge.told.v9","tasks":[]}'],
    ['with more than it may hold', ' '.repeat(toldBytesMax + 1)],
  ])('is as good as never noted when its file is %s, and noted anew', async (_name, text) => {
    await writeFile(path, text, { mode: 0o600 })
    const told = await open()
    expect([told.isFirst, told.isNews(queued)]).toEqual([true, true])
    await told.close()
    expect((await open()).isFirst).toBe(false)
  })

  it('stays what it is in memory when it cannot be noted', async () => {
    const told = await open({ ...realDisk, replace: () => Promise.reject(new Refusal('io', 'no room')) })
    told.isNews(queued)
    await told.close()
    expect([told.isNews(queued), (await open()).isFirst]).toEqual([false, true])
  })
})
