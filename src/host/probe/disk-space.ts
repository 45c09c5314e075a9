import { statfs } from 'node:fs/promises'
import { diskFreeBytesMin } from '../../limits.ts'

/** Bytes of the disk that a directory is on. */
export interface DiskSpace {
  readonly free: number
  readonly total: number
}

/** Measures the disk under `directory`; null when the system does not say. */
export async function measureDisk(directory: string): Promise<DiskSpace | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return null
  }
}

/** Whether so little is free that a run must end: below 1 GiB or 5 %, whichever is more. Pure. @see spec/execution.md §4 */
export function isDiskLow(space: DiskSpace): boolean {
  return space.free < Math.max(diskFreeBytesMin, space.total * 0.05)
}
