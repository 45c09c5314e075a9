/** A kernel-held exclusive lock on a stable lock file. It is free the moment its holder dies. */
export interface DiskLock {
  readonly path: string
  /** Whether the file at `path` is still the one that is locked. */
  stillThere(): Promise<boolean>
  release(): Promise<void>
}

/** An open private file that only ever grows by whole records. */
export interface AppendFile {
  /** Writes all of `bytes` at the end and data-syncs; a failed write is cut back to where it started. */
  append(bytes: Uint8Array): Promise<void>
  /** Cuts the file to `length` bytes and syncs. */
  truncate(length: number): Promise<void>
  size(): Promise<number>
  close(): Promise<void>
}

/**
 * What a file is replaced by: whole, or piece after piece, each asked for when the one before it is written, so that a
 * large file neither needs room for all of it nor holds up other work while it is made.
 */
export type FileContent = Uint8Array | Iterable<Uint8Array>

export interface ReplaceOptions {
  /** The temporary file's path; `.NAME.tmp` beside the file unless given. */
  readonly temporary?: string
  /**
   * Work that must be done before the file is renamed into place. It runs while the temporary file is written and
   * synced; what it throws is passed on, and the file at the path is left alone.
   */
  readonly meanwhile?: () => Promise<void>
}

/** What `Disk.identity` says of a file: enough to know that it is the same one, unchanged. */
export interface FileIdentity {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/**
 * Durable private files: the only door to what the product must not lose. Every path is absolute.
 *
 * Files are 0600, regular, singly linked and reached without following a link; directories are 0700 and real.
 * Anything else refuses `unsafe_path`; a failed system call refuses `io` with its cause. When a promise of
 * `replace`, `create`, `append`, `rename`, `remove`, `removeTree` or `makeDirectory` resolves, the change survives a crash.
 * @see spec/store.md §7, §8
 */
export interface Disk {
  /** The whole file, or null when there is none. Longer than `bytesMax` refuses `limit_exceeded`. */
  read(path: string, bytesMax: number): Promise<Uint8Array | null>
  /** Temporary file, fsync, rename, directory fsync. */
  replace(path: string, content: FileContent, options?: ReplaceOptions): Promise<void>
  /** Creates the file exclusively; false when something is already there (it is left alone). */
  create(path: string, bytes: Uint8Array): Promise<boolean>
  /** Opens for appending; `exclusive` refuses `io` when the file exists, otherwise it is created if absent. */
  openAppend(path: string, options?: { exclusive?: boolean }): Promise<AppendFile>
  /** Names in a directory, in byte order; null when there is none. */
  list(directory: string): Promise<string[] | null>
  /** Makes missing directories 0700, syncing each parent; checks the ones that exist. */
  makeDirectory(path: string): Promise<void>
  /** Makes the names of an existing directory and of every one above it durable, as far as we may read them. */
  syncAncestors(path: string): Promise<void>
  /** Refuses `unsafe_path` unless `path` is a real directory of ours with no access for others. */
  checkDirectory(path: string): Promise<void>
  /** Null when there is nothing at `path`. Never follows a link. */
  identity(path: string): Promise<FileIdentity | null>
  rename(from: string, to: string): Promise<void>
  /** Removes a file; false when there was none. */
  remove(path: string): Promise<boolean>
  /** Removes a private directory with all that is in it; nothing when there is none. */
  removeTree(path: string): Promise<void>
  /** Syncs an existing file and its directory: the barrier before an old receipt is given again. */
  sync(path: string): Promise<void>
  /**
   * Takes the lock at `path`, creating its file if `create`, and waits at most `waitMs` (polled every 2 ms).
   * Still held by then refuses `store_busy`. Callers of one process queue in memory first. A file it creates is
   * durable unless `volatile` says that it need not outlive a crash.
   */
  lock(path: string, waitMs: number, options?: { create?: boolean; volatile?: boolean }): Promise<DiskLock>
  /** Calls `changed` with a name (or null for "anything") when the directory's entries change. Returns the end. */
  watch(directory: string, changed: (name: string | null) => void): () => void
}
