import { hash } from 'node:crypto'
import { artifactBytesMax, artifactsTotalBytesMax } from '../../limits.ts'
import type { Disk } from '../../seams/disk.ts'
import type { Change, Snapshot, SnapshotEntry } from '../snapshot/entry.ts'
import { readConfined, readConfinedLink } from './confined-read.ts'
import { blobFile, keepContent } from './content.ts'
import type { ManifestEntry } from './manifest.ts'

/** A manifest entry, and whether nothing of it is missing. */
export interface KeptEntry {
  readonly entry: ManifestEntry
  readonly complete: boolean
}

/** Keeps one change's content. `path` is its name as text, `now` what the snapshot after the run says of it. */
export type Keeper = (change: Change, path: string, now: SnapshotEntry | null) => Promise<KeptEntry>

/**
 * A keeper for one run, which counts what it kept: at most 1 MiB a file and 8 MiB together. Content is kept only if
 * it is still exactly what the snapshot read.
 * @see spec/evidence.md §6
 */
export function createKeeper(disk: Disk, storeDir: string, after: Snapshot): Keeper {
  let total = 0
  const keepFile = async (path: string, now: SnapshotEntry): Promise<KeptEntry> => {
    if (now.length > artifactBytesMax || total + now.length > artifactsTotalBytesMax) return overLimit(path)
    const read = readConfined(after.root, now.path, artifactBytesMax)
    if (read.found === 'missing' || read.found === 'too_large') return overLimit(path)
    if (read.found === 'unsafe') return unavailable(path)
    const hex = hash('sha256', read.bytes, 'hex')
    if (hex !== now.sha256 || read.bytes.length !== now.length) return unavailable(path)
    await keepContent(disk, storeDir, blobFile(hex), read.bytes)
    total += now.length
    const entry = { ...bare(path, 'retained'), digest: `sha256:${hex}`, bytes: now.length }
    return { entry, complete: true }
  }
  return async (change, path, now) => {
    if (change.change === 'removed') return { entry: bare(path, 'removed'), complete: true }
    if (now?.kind === 'directory') return { entry: bare(path, 'directory'), complete: true }
    if (now?.kind === 'symlink') return keepLink(after.root, path, now)
    if (now?.kind === 'file') return keepFile(path, now)
    return overLimit(path)
  }
}

function keepLink(root: string, path: string, now: SnapshotEntry): KeptEntry {
  const read = readConfinedLink(root, now.path)
  if (read.found === 'missing') return overLimit(path)
  if (read.found !== 'content' || now.target === null || !now.target.equals(read.bytes))
    return unavailable(path)
  const target = now.target.toString('utf8')
  // A target that is not UTF-8 cannot be said in JSON.
  if (!Buffer.from(target).equals(now.target)) return unavailable(path)
  return { entry: { ...bare(path, 'symlink'), link_target: target }, complete: true }
}

function unavailable(path: string): KeptEntry {
  return { entry: bare(path, 'unavailable'), complete: false }
}

function overLimit(path: string): KeptEntry {
  return { entry: bare(path, 'unavailable_or_over_limit'), complete: false }
}

function bare(path: string, state: ManifestEntry['state']): ManifestEntry {
  return { path, state, digest: null, bytes: null, link_target: null }
}
