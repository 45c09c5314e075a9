import { isAbsolute, relative } from 'node:path'

/** The system calls that change what a disk keeps, or make it keep it. */
export const durableCalls = [
  'write',
  'pwrite64',
  'writev',
  'fsync',
  'fdatasync',
  'ftruncate',
  'rename',
  'renameat',
  'renameat2',
  'link',
  'unlink',
  'unlinkat',
] as const
export type DurableCall = (typeof durableCalls)[number]

/** A call on a file of the home, and how often it was made. */
export interface Site {
  readonly call: DurableCall
  /** Relative to the home; of a rename the old name, which is what it is found by. */
  readonly path: string
  readonly times: number
}

/** One of those calls: the `nth`, from 1. */
export interface Point extends Pick<Site, 'call' | 'path'> {
  readonly nth: number
}

/**
 * Reads what `strace -f -y` wrote: every durable call on a file below `home`, in the order of its first time. How often it
 * was made is that of the thread which made it most: strace counts up to a fault in each thread by itself.
 */
export function sitesOf(log: string, home: string): Site[] {
  const sites = new Map<string, Site & { readonly byThread: Map<string, number> }>()
  for (const line of log.split('\n')) {
    const [, thread = '', name, args = ''] = /^(\d+) +(\w+)\((.*)/.exec(line) ?? []
    const call = durableCalls.find((one) => one === name)
    const path = call === undefined ? null : pathIn(args, home)
    if (call === undefined || path === null) continue
    const key = `${call} ${path}`
    const byThread = sites.get(key)?.byThread ?? new Map<string, number>()
    byThread.set(thread, (byThread.get(thread) ?? 0) + 1)
    sites.set(key, { call, path, times: Math.max(...byThread.values()), byThread })
  }
  return [...sites.values()].map(({ call, path, times }) => ({ call, path, times }))
}

/** The calls that each of these sessions made, as often as the one that made the fewest. */
export function inEveryRun(runs: readonly (readonly Site[])[]): Site[] {
  const [first = [], ...others] = runs
  return first.flatMap((site) => {
    const same = others.map((run) => run.find(({ call, path }) => call === site.call && path === site.path))
    const times = Math.min(site.times, ...same.map((one) => one?.times ?? 0))
    return times === 0 ? [] : [{ ...site, times }]
  })
}

/** Every point of the sites, or only the last of each: by then the session is well under way. */
export function pointsOf(sites: readonly Site[], which: 'each' | 'one'): Point[] {
  return sites.flatMap(({ call, path, times }) => {
    const all = Array.from({ length: times }, (_, index) => ({ call, path, nth: index + 1 }))
    return which === 'each' ? all : all.slice(Math.floor((times - 1) / 2), Math.floor((times - 1) / 2) + 1)
  })
}

/** The file that a call is about: that of its descriptor, or the first name it was given. */
function pathIn(args: string, home: string): string | null {
  const path = /^\d+<([^>]*)>/.exec(args)?.[1] ?? /"((?:[^"\\]|\\.)*)"/.exec(args)?.[1]
  if (path === undefined) return null
  const below = relative(home, path)
  return below.startsWith('..') || isAbsolute(below) ? null : below
}
