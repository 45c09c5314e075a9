import type { Change, Comparison, Snapshot, SnapshotEntry } from './entry.ts'
import { createRenameCandidates } from './rename-candidates.ts'

/**
 * What changed from one snapshot to the other, in byte order of paths (of a rename's old one). Pure.
 * `unverifiable` when they are of different roots or one is incomplete.
 * @see spec/execution.md §6
 */
export function compareSnapshots(before: Snapshot, after: Snapshot): Comparison {
  if (before.root !== after.root)
    return { state: 'unverifiable', reason: 'the snapshots are of different roots' }
  if (!before.complete) return unreadable('before', before)
  if (!after.complete) return unreadable('after', after)
  const changes: Change[] = []
  const olds = new Map(before.entries.map((entry) => [keyOf(entry), entry]))
  const created: SnapshotEntry[] = []
  for (const entry of after.entries) {
    const old = olds.get(keyOf(entry))
    olds.delete(keyOf(entry))
    if (old === undefined) created.push(entry)
    else if (old.kind !== entry.kind) changes.push({ change: 'retyped', path: entry.path })
    else if (differs(old, entry)) changes.push({ change: 'modified', path: entry.path })
  }
  const candidates = createRenameCandidates(created)
  for (const entry of olds.values()) {
    const to = candidates.take(entry)
    if (to === null) changes.push({ change: 'removed', path: entry.path })
    else
      changes.push({
        change: 'renamed',
        from: entry.path,
        to: to.path,
        altered: to.kind !== entry.kind || differs(entry, to),
      })
  }
  for (const entry of candidates.rest()) changes.push({ change: 'created', path: entry.path })
  return changes.length === 0 ? { state: 'clean' } : { state: 'changed', changes: changes.sort(byPath) }
}

function unreadable(when: string, snapshot: Snapshot): Comparison {
  return { state: 'unverifiable', reason: `the snapshot ${when} is incomplete: ${snapshot.faults[0] ?? ''}` }
}

/** A key that keeps every byte. */
function keyOf(entry: SnapshotEntry): string {
  return entry.path.toString('latin1')
}

function differs(a: SnapshotEntry, b: SnapshotEntry): boolean {
  if (a.dev !== b.dev || a.ino !== b.ino || a.mode !== b.mode || a.mtimeNs !== b.mtimeNs) return true
  if (a.length !== b.length || a.sha256 !== b.sha256) return true
  return a.target === null || b.target === null ? a.target !== b.target : !a.target.equals(b.target)
}

const ranks = ['created', 'removed', 'modified', 'retyped', 'renamed']

function byPath(a: Change, b: Change): number {
  const order = Buffer.compare(pathOf(a), pathOf(b))
  return order !== 0 ? order : ranks.indexOf(a.change) - ranks.indexOf(b.change)
}

function pathOf(change: Change): Buffer {
  return change.change === 'renamed' ? change.from : change.path
}
