import { listReadsAtOnce, taskFileBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { isIdentifier } from '../../protocol/text.ts'
import type { Disk } from '../../seams/disk.ts'
import type { StoreLayout } from './layout.ts'
import { type Converted, convertLegacyDocument } from './legacy-document.ts'

/**
 * Makes a store of the document that older programs kept. The caller holds `tasks.lock`, and there is no marker.
 *
 * Until the marker is written the document is the only truth: after a crash the next open does all of it again, over
 * whatever is there. After the marker the document is only put aside, never removed.
 * @param marker the bytes of `store.json`, which says where the tasks came from
 * @throws as `convertLegacyDocument`, having written nothing; `corrupt_store` when `task/` holds a task that the
 * document does not know, or when a file does not read back as it was written; `io`
 * @see spec/store.md §12
 */
export async function migrateLegacyDocument(
  disk: Disk,
  layout: StoreLayout,
  marker: Uint8Array,
): Promise<void> {
  await disk.remove(layout.legacyPending)
  const bytes = await disk.read(layout.legacy, taskFileBytesMax)
  if (bytes === null) throw new Refusal('corrupt_store', 'tasks.json is gone')
  const converted = convertLegacyDocument(bytes)
  await refuseUnknownTasks(disk, layout, converted)
  await disk.makeDirectory(layout.tasks)
  await writeTasks(disk, layout, converted)
  await disk.replace(layout.identities, converted.identities)
  await disk.syncAncestors(layout.dir)
  await disk.replace(layout.marker, marker)
  await putAsideLegacy(disk, layout)
}

/** Moves `tasks.json` to the first backup name that is free. */
export async function putAsideLegacy(disk: Disk, layout: StoreLayout): Promise<void> {
  await disk.rename(layout.legacy, await freeBackup(disk, layout))
}

async function freeBackup(disk: Disk, { dir }: StoreLayout): Promise<string> {
  for (let number = 0; ; number += 1) {
    const path = `${dir}/tasks.v2.${number === 0 ? '' : `${number}.`}json`
    if ((await disk.identity(path)) === null) return path
  }
}

/** A migration that was cut off leaves files of the document's own tasks only. */
async function refuseUnknownTasks(disk: Disk, layout: StoreLayout, { files }: Converted): Promise<void> {
  for (const name of (await disk.list(layout.tasks)) ?? []) {
    if (!name.endsWith('.json')) continue
    const taskId = name.slice(0, -'.json'.length)
    if (!isIdentifier(taskId) || files.has(taskId)) continue
    throw new Refusal('corrupt_store', 'task/ holds a task that tasks.json does not have')
  }
}

/** All are written before the first gets its name, and all are read back before anything counts on them. */
async function writeTasks(disk: Disk, layout: StoreLayout, { files }: Converted): Promise<void> {
  const temporary = (taskId: string) => `${layout.tasks}/.${taskId}.json.tmp`
  await forEach(files, async (taskId, bytes) => {
    await disk.remove(temporary(taskId))
    if (await disk.create(temporary(taskId), bytes)) return
    throw new Refusal('store_busy', 'another program writes in task/')
  })
  await forEach(files, (taskId) => disk.rename(temporary(taskId), layout.taskFile(taskId)))
  await forEach(files, async (taskId, bytes) => {
    const found = await disk.read(layout.taskFile(taskId), taskFileBytesMax)
    if (found !== null && Buffer.compare(found, bytes) === 0) return
    throw new Refusal('corrupt_store', `the task file of ${taskId} does not read back as it was written`)
  })
}

async function forEach(
  files: ReadonlyMap<string, Uint8Array>,
  work: (taskId: string, bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const all = [...files]
  for (let start = 0; start < all.length; start += listReadsAtOnce) {
    await Promise.all(all.slice(start, start + listReadsAtOnce).map(([taskId, bytes]) => work(taskId, bytes)))
  }
}
