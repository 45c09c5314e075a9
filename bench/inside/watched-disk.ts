import type { AppendFile, Disk } from '../../src/seams/disk.ts'

/** What a disk was asked for, and how long its callers waited, in milliseconds. */
export interface DiskUse {
  /** Writes that were made durable: replacements, creations, appends, truncations, renames, removals, syncs. */
  writes: number
  /** Of these, replacements of the command journal. */
  journalWrites: number
  writeMs: number
  reads: number
  readMs: number
}

export interface WatchedDisk {
  readonly disk: Disk
  readonly use: DiskUse
  /** Makes every read of a path that fits take so much longer; null: none. */
  slow: { path: RegExp; ms: number } | null
}

export function watchedDisk(disk: Disk): WatchedDisk {
  const use: DiskUse = { writes: 0, journalWrites: 0, writeMs: 0, reads: 0, readMs: 0 }
  const writing = async <T>(work: Promise<T>): Promise<T> => {
    const start = performance.now()
    use.writes += 1
    try {
      return await work
    } finally {
      use.writeMs += performance.now() - start
    }
  }
  const file = (opened: AppendFile): AppendFile => ({
    ...opened,
    append: (bytes) => writing(opened.append(bytes)),
    truncate: (length) => writing(opened.truncate(length)),
  })
  const watched: WatchedDisk = {
    use,
    slow: null,
    disk: {
      ...disk,
      async read(path, bytesMax) {
        const start = performance.now()
        use.reads += 1
        const { slow } = watched
        if (slow?.path.test(path)) await new Promise((resolve) => setTimeout(resolve, slow.ms))
        try {
          return await disk.read(path, bytesMax)
        } finally {
          use.readMs += performance.now() - start
        }
      },
      replace(path, bytes, options) {
        if (path.endsWith('/commands.json')) use.journalWrites += 1
        return writing(disk.replace(path, bytes, options))
      },
      create: (path, bytes) => writing(disk.create(path, bytes)),
      rename: (from, to) => writing(disk.rename(from, to)),
      remove: (path) => writing(disk.remove(path)),
      sync: (path) => writing(disk.sync(path)),
      openAppend: async (path, options) => file(await disk.openAppend(path, options)),
    },
  }
  return watched
}
