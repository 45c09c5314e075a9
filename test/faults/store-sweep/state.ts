import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRefusal } from '../../../src/protocol/refusal.ts'
import { systemClock } from '../../../src/seams/clock.ts'
import { openArchive } from '../../../src/store/archive.ts'
import { realDisk } from '../../../src/store/disk.ts'
import { openTaskStore } from '../../../src/store/tasks/store.ts'

/** Every file of a store by its path, but for when something was put away. */
export async function filesOf(store: string): Promise<Record<string, string>> {
  const entries = await readdir(store, { recursive: true, withFileTypes: true }).catch(() => [])
  const files: Record<string, string> = {}
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    files[path.slice(dirname(store).length)] = (await readFile(path, 'utf8')).replace(/"at":\d+/g, '"at":0')
  }
  return files
}

/** What a reader who touches nothing finds: the tasks and what is put away, or why it finds nothing. */
export async function seenBy(store: string): Promise<string> {
  try {
    const tasks = await openTaskStore(realDisk, systemClock, store, { readOnly: true })
    const list = await tasks.list()
    await tasks.close()
    return JSON.stringify([list, [...(await openArchive(realDisk, store).list()).keys()]])
  } catch (error) {
    if (!isRefusal(error)) throw error
    return error.code
  }
}
