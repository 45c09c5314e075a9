import { Refusal } from '../../src/protocol/refusal.ts'
import type { Disk } from '../../src/seams/disk.ts'
import { realDisk } from '../../src/store/disk.ts'

/**
 * The real disk of a machine that stops at the `count`th change, before it or after it: no later one is made.
 * @param passes whether a file's creation does not count
 */
export function stoppingDisk(count: number, after: boolean, passes = (_path: string) => false): Disk {
  let changes = 0
  const stop = async <T>(change: () => Promise<T>): Promise<T> => {
    changes += 1
    if (changes < count) return change()
    if (changes === count && after) await change()
    throw new Refusal('io', 'the machine stopped')
  }
  return {
    ...realDisk,
    create: (path, content) =>
      passes(path) ? realDisk.create(path, content) : stop(() => realDisk.create(path, content)),
    replace: (path, content, options) => stop(() => realDisk.replace(path, content, options)),
    rename: (from, to) => stop(() => realDisk.rename(from, to)),
    remove: (path) => stop(() => realDisk.remove(path)),
    removeTree: (path) => stop(() => realDisk.removeTree(path)),
  }
}
