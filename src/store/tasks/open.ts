import { isAbsolute, resolve } from 'node:path'
import * as z from 'zod'
import { creatorPollMs, creatorWaitMs, identitiesBytesMax, markerBytesMax } from '../../limits.ts'
import { Refusal } from '../../protocol/refusal.ts'
import { type Clock, pause } from '../../seams/clock.ts'
import type { Disk, FileIdentity } from '../../seams/disk.ts'
import { type StoreLayout, storeLayout } from './layout.ts'
import { migrateLegacyDocument, putAsideLegacy } from './migrate.ts'
import { isBetweenStores } from './retired.ts'
import { readStrict } from './strict.ts'

const markerSchemaName = 'openagents.coder.task-store.v3'
const markerShape = z.strictObject({
  schema: z.string(),
  migrated_from: z.literal('tasks.v2.json').exactOptional(),
})

/** A store that was opened: where it lies and which lock file was there then. */
export interface OpenedStore {
  readonly layout: StoreLayout
  readonly lockIdentity: FileIdentity
}

/**
 * Opens the store in `dir`, making it when nothing is there, and of the document of an older program when that is
 * what is there. A store that lost a part of itself refuses and is never made anew.
 * @param waitMs how long to wait for `tasks.lock`, in milliseconds
 * @throws `unsafe_path`, `corrupt_store`, `unsupported_schema`, `store_busy`, `limit_exceeded`, `io`
 * @see spec/store.md §9
 */
export async function openStore(disk: Disk, clock: Clock, dir: string, waitMs: number): Promise<OpenedStore> {
  const layout = storeLayout(absolute(dir))
  if (await isBetweenStores(disk, layout.dir)) throw betweenStores()
  await disk.makeDirectory(layout.dir)
  if ((await disk.identity(layout.lock)) === null) await refuseRemains(disk, layout)
  const fresh = await disk.create(layout.lock, new Uint8Array(0))
  const startMs = clock.nowMs()
  while (
    !(await settled(disk, layout, { fresh, waitMs, mayWait: clock.nowMs() - startMs < creatorWaitMs }))
  ) {
    await pause(clock, creatorPollMs)
  }
  return opened(disk, layout)
}

/**
 * Opens an existing store to read from it: nothing is made, moved or cleaned, and no lock is taken.
 * @throws `not_found` when there is no store; otherwise as `openStore`
 */
export async function openStoreForReading(disk: Disk, dir: string): Promise<OpenedStore> {
  const layout = storeLayout(absolute(dir))
  if (await isBetweenStores(disk, layout.dir)) throw betweenStores()
  if ((await disk.identity(layout.dir)) === null) throw new Refusal('not_found', 'there is no task store')
  await disk.checkDirectory(layout.dir)
  if ((await disk.identity(layout.lock)) === null) {
    await refuseRemains(disk, layout)
    throw new Refusal('not_found', 'there is no task store')
  }
  if ((await disk.identity(layout.marker)) === null) {
    throw (await disk.identity(layout.legacy)) === null ? withoutMarker() : notMigrated()
  }
  await checkInitialised(disk, layout)
  return opened(disk, layout)
}

/** What every opening says when the old store was put aside and the new one is not yet in its place. */
export function betweenStores(): Refusal {
  return new Refusal('corrupt_store', 'putting the task store aside was cut off', {
    hint: 'drawbridge store rotate',
  })
}

function absolute(dir: string): string {
  if (!isAbsolute(dir)) throw new Refusal('unsafe_path', 'the store directory must be an absolute path')
  return resolve(dir)
}

async function opened(disk: Disk, layout: StoreLayout): Promise<OpenedStore> {
  const lockIdentity = await disk.identity(layout.lock)
  if (lockIdentity === null)
    throw new Refusal('unsafe_path', 'tasks.lock was removed while the store was opened')
  return { layout, lockIdentity }
}

/** Whatever a store leaves proves that its lock file was there once. */
async function refuseRemains(disk: Disk, layout: StoreLayout): Promise<void> {
  for (const path of [layout.marker, layout.legacy, layout.legacyPending, layout.tasks, layout.identities]) {
    if ((await disk.identity(path)) === null) continue
    throw new Refusal('corrupt_store', 'tasks.lock is missing from a store that has been used')
  }
}

interface Attempt {
  readonly fresh: boolean
  readonly waitMs: number
  /** Whether whoever made the lock file may still be about to take it. */
  readonly mayWait: boolean
}

/** Validates or makes the store under its lock; false when another process may be making it this moment. */
async function settled(disk: Disk, layout: StoreLayout, attempt: Attempt): Promise<boolean> {
  const lock = await disk.lock(layout.lock, attempt.waitMs)
  try {
    if ((await disk.identity(layout.marker)) !== null) {
      if (attempt.fresh)
        throw new Refusal('corrupt_store', 'tasks.lock was missing from a store that has been used')
      await checkInitialised(disk, layout)
      // Whoever made the store may have been cut off between the marker's rename and the directory's sync.
      await disk.sync(layout.marker)
      await tidy(disk, layout)
      return true
    }
    if (attempt.fresh) {
      await refuseRemains(disk, layout)
      await initialise(disk, layout)
      return true
    }
    if ((await disk.identity(layout.legacy)) !== null) {
      await migrateLegacyDocument(disk, layout, markerBytes({ migrated_from: 'tasks.v2.json' }))
      await disk.sync(layout.lock)
      return true
    }
    if (attempt.mayWait) return false
    throw withoutMarker()
  } finally {
    await lock.release()
  }
}

async function initialise(disk: Disk, layout: StoreLayout): Promise<void> {
  await disk.makeDirectory(layout.tasks)
  if (!(await disk.create(layout.identities, new Uint8Array(0)))) {
    throw new Refusal('corrupt_store', 'identities.log was there before its store')
  }
  await disk.syncAncestors(layout.dir)
  await disk.replace(layout.marker, markerBytes({}))
}

function markerBytes(origin: { migrated_from?: 'tasks.v2.json' }): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ schema: markerSchemaName, ...origin }))
}

async function checkInitialised(disk: Disk, layout: StoreLayout): Promise<void> {
  const bytes = await disk.read(layout.marker, markerBytesMax)
  if (bytes === null) throw new Refusal('corrupt_store', 'store.json is missing')
  checkMarker(bytes)
  if ((await disk.identity(layout.tasks)) === null) throw new Refusal('corrupt_store', 'task/ is missing')
  await disk.checkDirectory(layout.tasks)
  if ((await disk.read(layout.identities, identitiesBytesMax)) === null) {
    throw new Refusal('corrupt_store', 'identities.log is missing')
  }
}

function checkMarker(bytes: Uint8Array): void {
  const parsed = markerShape.safeParse(readStrict(bytes, markerBytesMax, 'store.json', 'corrupt_store'))
  if (!parsed.success) throw new Refusal('corrupt_store', 'store.json has another shape')
  if (parsed.data.schema !== markerSchemaName) {
    throw new Refusal('unsupported_schema', 'the task store has a schema of another program')
  }
}

/** What older programs left beside an initialised store is put out of the way, never deleted unless unfinished. */
async function tidy(disk: Disk, layout: StoreLayout): Promise<void> {
  if ((await disk.identity(layout.legacy)) !== null) await putAsideLegacy(disk, layout)
  if ((await disk.identity(layout.legacyPending)) !== null) await disk.remove(layout.legacyPending)
}

function withoutMarker(): Refusal {
  return new Refusal('corrupt_store', 'store.json is missing from a store that has been used')
}

/** Whoever only reads changes nothing, so the document of an older program stays as it is. */
function notMigrated(): Refusal {
  return new Refusal('unsupported_schema', 'the store holds the tasks.json of an older program', {
    hint: 'drawbridge task settle takes its tasks over; the document is kept as tasks.v2.json',
  })
}
