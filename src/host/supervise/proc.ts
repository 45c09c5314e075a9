import { readdirSync, readFileSync } from 'node:fs'

/** What `/proc/PID/stat` says of a process. */
export interface ProcessStat {
  readonly command: string
  /** One letter; `Z` is a zombie, `X` is dead. */
  readonly state: string
  readonly parent: number
  readonly group: number
  /** Clock ticks since boot. */
  readonly startTicks: number
  readonly residentPages: number
}

/** Reads `/proc/PID/stat`; null when there is no such process. */
export function readStat(pid: number): ProcessStat | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // The command may hold spaces and brackets; the last bracket ends it.
  const end = text.lastIndexOf(')')
  const fields = text.slice(end + 2).split(' ')
  const startTicks = Number(fields[19])
  if (end < 0 || !Number.isSafeInteger(startTicks)) return null
  return {
    command: text.slice(text.indexOf('(') + 1, end),
    state: fields[0] ?? '',
    parent: Number(fields[1]),
    group: Number(fields[2]),
    startTicks,
    residentPages: Number(fields[21]),
  }
}

/** Every process ID that the host shows now; empty where there is no `/proc`. */
export function processIds(): number[] {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return []
  }
  return names.filter((name) => /^\d+$/.test(name)).map(Number)
}

/** The children of every thread of a process; empty when it is gone. */
export function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) => childrenOfThread(pid, thread))
}

/** Everything below a process that the kernel still ties to it, nearest first. */
export function descendantsOf(pid: number): number[] {
  const found = childrenOf(pid)
  const seen = new Set(found)
  for (let index = 0; index < found.length; index += 1) {
    for (const child of childrenOf(found[index] ?? 0)) {
      if (seen.has(child)) continue
      seen.add(child)
      found.push(child)
    }
  }
  return found
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function childrenOfThread(pid: number, thread: string): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
    return text
      .split(' ')
      .filter((word) => word !== '')
      .map(Number)
  } catch {
    return []
  }
}
