import { basename, dirname, join } from 'node:path'
import type { Disk } from '../../seams/disk.ts'
import { storeLayout } from './layout.ts'

/** Where the store that follows the one in `dir` is made, until it takes its place. */
export function preparedStore(dir: string): string {
  return `${dir}.next`
}

/** The directories of the stores that were put aside from `dir`, the oldest first. @see spec/store.md §6a */
export async function retiredStores(disk: Disk, dir: string): Promise<string[]> {
  const numbers = await retiredNumbers(disk, dir)
  return numbers.map((number) => `${dir}.${number}`)
}

/** Where the next one goes: after every one that is there. */
export async function nextRetiredStore(disk: Disk, dir: string): Promise<string> {
  return `${dir}.${((await retiredNumbers(disk, dir)).at(-1) ?? 0) + 1}`
}

/** The directory of the store put aside that has this task; null when none of those that are there has it. */
export async function retiredStoreWith(disk: Disk, dir: string, taskId: string): Promise<string | null> {
  for (const store of await retiredStores(disk, dir)) {
    if ((await disk.identity(storeLayout(store).taskFile(taskId))) !== null) return store
  }
  return null
}

async function retiredNumbers(disk: Disk, dir: string): Promise<number[]> {
  const names = (await disk.list(dirname(dir))) ?? []
  const prefix = `${basename(dir)}.`
  const ends = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
  const numbers = ends.filter((end) => /^[1-9]\d{0,5}$/.test(end)).map(Number)
  return numbers.sort((one, other) => one - other)
}

/** Whether putting a store aside was cut off when it was gone and its follower was not yet in its place. */
export async function isBetweenStores(disk: Disk, dir: string): Promise<boolean> {
  if ((await disk.identity(dir)) !== null) return false
  return (await disk.identity(join(preparedStore(dir), 'store.json'))) !== null
}
