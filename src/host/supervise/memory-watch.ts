import { readFileSync, statfsSync } from 'node:fs'
import { memoryWatchMs } from '../../limits.ts'
import type { Clock, Timer } from '../../seams/clock.ts'
import { childrenOf, descendantsOf } from './proc.ts'

/** The temporary file systems inside: memory too. */
const temporaries = ['tmp', 'dev/shm']

/** A watch over the memory of a whole tree of processes. */
export interface MemoryWatch {
  stop(): void
}

/**
 * Every 100 ms sums what the tree below `init` holds in memory, its temporary files included, and calls `exceeded`
 * once when that is more than `bytesMax`. `prlimit` bounds a process; this bounds all of them together.
 * @see spec/execution.md §7
 */
export function watchMemory(clock: Clock, init: number, bytesMax: number, exceeded: () => void): MemoryWatch {
  let timer: Timer | null = null
  const look = (): void => {
    if (residentBytes(init) + temporaryBytes(init) <= bytesMax) timer = clock.after(memoryWatchMs, look)
    else exceeded()
  }
  timer = clock.after(memoryWatchMs, look)
  return { stop: () => timer?.cancel() }
}

/** Resident bytes of a process and everything below it. */
function residentBytes(root: number): number {
  let total = 0
  for (const pid of [root, ...descendantsOf(root)]) total += residentOf(pid)
  return total
}

function residentOf(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? 0 : Number(kilobytes) * 1024
  } catch {
    return 0
  }
}

/** Bytes in the temporary file systems that the command sees; 0 when it is gone. */
function temporaryBytes(init: number): number {
  const command = childrenOf(init)[0]
  if (command === undefined) return 0
  let total = 0
  for (const name of temporaries) {
    try {
      const { blocks, bfree, bsize } = statfsSync(`/proc/${command}/root/${name}`)
      total += (blocks - bfree) * bsize
    } catch {
      // Not there any more; its size is bounded by itself.
    }
  }
  return total
}
