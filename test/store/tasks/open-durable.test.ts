import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/seams/clock.ts'
import type { FileContent } from '../../../src/seams/disk.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'
import { tempDir } from '../../support/temp-dir.ts'

describe('what opening makes durable', () => {
  it('is the way to a new store before its marker, and the marker of one whose making was cut off', async () => {
    const dir = join(await tempDir(), 'tasks')
    const made: string[] = []
    const disk = {
      ...realDisk,
      replace(path: string, content: FileContent) {
        made.push(`write ${basename(path)}`)
        return realDisk.replace(path, content)
      },
      syncAncestors(path: string) {
        made.push(`sync above ${basename(path)}`)
        return realDisk.syncAncestors(path)
      },
      sync(path: string) {
        made.push(`sync ${basename(path)}`)
        return realDisk.sync(path)
      },
    }
    await openTaskStore(disk, systemClock, dir)
    expect(made).toEqual(['sync above tasks', 'write store.json'])
    await openTaskStore(disk, systemClock, dir)
    expect(made.slice(2)).toEqual(['sync store.json'])
  })
})
