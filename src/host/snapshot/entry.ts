/** What an entry of a tree is. @see spec/execution.md §6 */
export type EntryKind =
  | 'directory'
  | 'file'
  | 'symlink'
  | 'fifo'
  | 'socket'
  | 'char device'
  | 'block device'
  | 'other'

/** One entry of a snapshot. */
export interface SnapshotEntry {
  /** Raw bytes, relative to the root, joined by `/`; empty for the root itself. */
  readonly path: Buffer
  readonly kind: EntryKind
  /** Permission bits, at most 0o7777. */
  readonly mode: number
  readonly dev: bigint
  readonly ino: bigint
  readonly mtimeNs: bigint
  /** Files only, otherwise 0. */
  readonly length: number
  /** Raw SHA-256, lowercase hex; files only, otherwise null. */
  readonly sha256: string | null
  /** Links only, otherwise null. */
  readonly target: Buffer | null
}

/** A tree as it was read. */
export interface Snapshot {
  /** Canonical path. */
  readonly root: string
  /** Raw lowercase hex. Says something about the tree only when `complete`. */
  readonly digest: string
  /** In order of path components, each compared as bytes. */
  readonly entries: readonly SnapshotEntry[]
  /** What could not be read, in plain words. */
  readonly faults: readonly string[]
  readonly complete: boolean
}

export type Change =
  | { readonly change: 'created' | 'removed' | 'modified' | 'retyped'; readonly path: Buffer }
  | { readonly change: 'renamed'; readonly from: Buffer; readonly to: Buffer; readonly altered: boolean }

/** What changed between two snapshots. */
export type Comparison =
  | { readonly state: 'clean' }
  | { readonly state: 'changed'; readonly changes: readonly Change[] }
  | { readonly state: 'unverifiable'; readonly reason: string }
