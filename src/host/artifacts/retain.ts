import { changesMax, manifestBytesMax } from '../../limits.ts'
import type { Disk } from '../../seams/disk.ts'
import { sha256Hex } from '../../store/digest.ts'
import { compareSnapshots } from '../snapshot/compare.ts'
import type { Change, Snapshot, SnapshotEntry } from '../snapshot/entry.ts'
import { takeSnapshot } from '../snapshot/take.ts'
import { keepContent, manifestFile } from './content.ts'
import { createKeeper, type KeptEntry } from './keep-entry.ts'
import {
  type Manifest,
  type ManifestChange,
  type ManifestEntry,
  type ManifestReference,
  manifestSchemaName,
} from './manifest.ts'

/** Room for the fields around the lists. */
const manifestRoomBytes = 4_096

/**
 * Keeps what a run changed: a manifest, and the content of changed files within bounds, both named by their digests.
 * To be called when no process of the run is alive. Refuses `corrupt_store` when a file of that name holds other bytes.
 * @see spec/evidence.md §6
 */
export async function retainArtifacts(
  disk: Disk,
  storeDir: string,
  before: Snapshot,
  after: Snapshot,
): Promise<ManifestReference> {
  const kept = await keepChanges(disk, storeDir, before, after)
  const complete = kept.complete && (await isUnchanged(after))
  const manifest: Manifest = {
    schema: manifestSchemaName,
    source_snapshot: before.digest,
    candidate_snapshot: after.complete ? after.digest : null,
    complete,
    omitted_changes: kept.omitted,
    changes: kept.changes,
    entries: kept.entries,
  }
  const bytes = Buffer.from(JSON.stringify(manifest))
  const hex = sha256Hex(bytes)
  await keepContent(disk, storeDir, manifestFile(hex), bytes)
  return { artifact_file: manifestFile(hex), artifact_digest: `sha256:${hex}` }
}

interface KeptChanges {
  readonly changes: ManifestChange[]
  readonly entries: ManifestEntry[]
  readonly omitted: number
  readonly complete: boolean
}

async function keepChanges(
  disk: Disk,
  storeDir: string,
  before: Snapshot,
  after: Snapshot,
): Promise<KeptChanges> {
  const comparison = compareSnapshots(before, after)
  if (comparison.state === 'unverifiable') return { changes: [], entries: [], omitted: 0, complete: false }
  const all = comparison.state === 'clean' ? [] : comparison.changes
  const keep = createKeeper(disk, storeDir, after)
  const byPath = new Map(after.entries.map((entry) => [entry.path.toString('latin1'), entry]))
  const changes: ManifestChange[] = []
  const entries: ManifestEntry[] = []
  let complete = true
  let bytes = manifestRoomBytes
  for (const change of all) {
    if (changes.length === changesMax) break
    // A name that is not UTF-8 has no place in JSON: it is counted, and the rest is kept.
    const named = namedChange(change)
    if (named === null) continue
    const kept = await keep(change, namedPath(named), entryAfter(change, byPath))
    bytes += lengthOf(named) + lengthOf(kept.entry)
    if (bytes > manifestBytesMax) break
    complete &&= kept.complete
    changes.push(named)
    entries.push(kept.entry)
  }
  const omitted = all.length - changes.length
  return { changes, entries, omitted, complete: complete && omitted === 0 }
}

function lengthOf(value: ManifestChange | KeptEntry['entry']): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1
}

/** The change with its paths as text; null when one is not UTF-8. */
function namedChange(change: Change): ManifestChange | null {
  if (change.change !== 'renamed') {
    const path = textOf(change.path)
    return path === null ? null : { change: change.change, path }
  }
  const from = textOf(change.from)
  const to = textOf(change.to)
  return from === null || to === null ? null : { change: 'renamed', from, to, altered: change.altered }
}

/** The root is an entry too; it goes by the one name that no entry can have. */
function textOf(path: Buffer): string | null {
  const text = path.toString('utf8')
  if (!Buffer.from(text).equals(path)) return null
  return text === '' ? '.' : text
}

function namedPath(change: ManifestChange): string {
  return change.change === 'renamed' ? change.to : change.path
}

function entryAfter(change: Change, byPath: ReadonlyMap<string, SnapshotEntry>): SnapshotEntry | null {
  if (change.change === 'removed') return null
  const path = change.change === 'renamed' ? change.to : change.path
  return byPath.get(path.toString('latin1')) ?? null
}

/** Whether the tree still is what it was when the candidate was read. */
async function isUnchanged(after: Snapshot): Promise<boolean> {
  const now = await takeSnapshot(after.root)
  return after.complete && now.complete && now.digest === after.digest
}
