import { basename, dirname } from 'node:path'
import type { AppendFile, Disk, DiskLock } from '../../../src/seams/disk.ts'

/** A real disk whose calls happen one at a time, in the order in which they were made. */
export interface OrderlyDisk extends Disk {
  /** Resolves when no call is under way and nobody makes another one by himself. */
  idle(): Promise<void>
}

/** How many turns of the event loop nothing may happen in before it is called idle. */
const quietTurns = 4

/**
 * Puts the calls of a disk in one line, so that a service on real files does the same in every run. Changes are told
 * to watchers at once, by name, and task files bear the time of the clock that is given, since devices see it.
 */
export function orderlyDisk(disk: Disk, nowMs: () => number): OrderlyDisk {
  const watchers = new Set<{ directory: string; changed: (name: string | null) => void }>()
  const changedMs = new Map<string, number>()
  const locks = new Map<string, (() => void)[]>()
  let tail: Promise<unknown> = Promise.resolve()
  let underWay = 0

  const inLine = <T>(call: () => Promise<T>): Promise<T> => {
    underWay += 1
    const done = tail.then(call).finally(() => {
      underWay -= 1
    })
    tail = done.catch(() => undefined)
    return done
  }
  const tell = (path: string): void => {
    changedMs.set(path, nowMs())
    for (const { directory, changed } of watchers) {
      if (directory === dirname(path)) queueMicrotask(() => changed(basename(path)))
    }
  }
  const change = async <T>(path: string, call: () => Promise<T>): Promise<T> => {
    const value = await inLine(call)
    tell(path)
    return value
  }
  const inTurn = (path: string): Promise<void> => {
    const queue = locks.get(path)
    if (queue === undefined) {
      locks.set(path, [])
      return Promise.resolve()
    }
    return new Promise((resolve) => queue.push(resolve))
  }
  const leave = (path: string): void => {
    const next = locks.get(path)?.shift()
    if (next === undefined) locks.delete(path)
    else next()
  }
  const orderlyFile = (path: string, file: AppendFile): AppendFile => ({
    append: (bytes) => change(path, () => file.append(bytes)),
    truncate: (length) => change(path, () => file.truncate(length)),
    size: () => inLine(() => file.size()),
    close: () => inLine(() => file.close()),
  })
  const orderlyLock = (lock: DiskLock): DiskLock => ({
    path: lock.path,
    stillThere: () => inLine(() => lock.stillThere()),
    async release() {
      await inLine(() => lock.release())
      leave(lock.path)
    },
  })

  return {
    read: (path, bytesMax) => inLine(() => disk.read(path, bytesMax)),
    async replace(path, bytes, { meanwhile, ...options } = {}) {
      await meanwhile?.()
      await change(path, () => disk.replace(path, bytes, options))
    },
    create: (path, bytes) => change(path, () => disk.create(path, bytes)),
    openAppend: async (path, options) =>
      orderlyFile(path, await inLine(() => disk.openAppend(path, options))),
    list: (directory) => inLine(() => disk.list(directory)),
    makeDirectory: (path) => inLine(() => disk.makeDirectory(path)),
    removeTree: (path) => inLine(() => disk.removeTree(path)),
    syncAncestors: (path) => inLine(() => disk.syncAncestors(path)),
    checkDirectory: (path) => inLine(() => disk.checkDirectory(path)),
    async identity(path) {
      const identity = await inLine(() => disk.identity(path))
      const ms = dirname(path).endsWith('/task') ? changedMs.get(path) : undefined
      if (identity === null || ms === undefined) return identity
      return { ...identity, mtimeNs: BigInt(ms) * 1_000_000n }
    },
    async rename(from, to) {
      await change(to, () => disk.rename(from, to))
    },
    remove: (path) => change(path, () => disk.remove(path)),
    sync: (path) => inLine(() => disk.sync(path)),
    async lock(path, waitMs, options) {
      // Who only tries is told by the disk itself that it is held.
      if (waitMs === 0 && locks.has(path)) return await inLine(() => disk.lock(path, 0, options))
      await inTurn(path)
      try {
        return orderlyLock(await inLine(() => disk.lock(path, waitMs, options)))
      } catch (error) {
        leave(path)
        throw error
      }
    },
    watch(directory, changed) {
      const watcher = { directory, changed }
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    async idle() {
      for (let quiet = 0; quiet < quietTurns; ) {
        await new Promise<void>((resolve) => setImmediate(resolve))
        quiet = underWay === 0 ? quiet + 1 : 0
      }
    },
  }
}
