import { readFileSync, readlinkSync } from 'node:fs'
import * as z from 'zod'
import { processIds, readStat } from './proc.ts'

const natural = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER)

/** A run's processes, known by more than a number. @see spec/execution.md §2, §7 */
export const processIdentitySchema = z.strictObject({
  /** The boundary's own process, leader of its group. */
  pid: natural.min(1),
  /** When it started, in clock ticks since boot. */
  start_ticks: natural,
  boot_id: z.string().min(1).max(64),
  /** Inode of the PID namespace that every process of the run lives in; null when it never came to be. */
  pid_namespace: natural.nullable(),
  cgroup: z.string().max(4096).nullable(),
})
export type ProcessIdentity = z.infer<typeof processIdentitySchema>

/** The identity of the living process `pid`, outside any run; null when there is none. A zombie still has one. */
export function readIdentity(pid: number): ProcessIdentity | null {
  const stat = readStat(pid)
  if (stat === null) return null
  return {
    pid,
    start_ticks: stat.startTicks,
    boot_id: bootId(),
    pid_namespace: namespaceOf(pid),
    cgroup: null,
  }
}

/** Whether exactly this process is there and not a zombie: number, start time and boot agree. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.boot_id !== bootId()) return false
  const stat = readStat(identity.pid)
  return stat !== null && stat.startTicks === identity.start_ticks && !isGone(stat.state)
}

/** Living processes (neither zombie nor dead) in the PID namespace with this inode, by host process ID. */
export function namespaceMembers(namespace: number): number[] {
  return processIds().filter((pid) => {
    const stat = readStat(pid)
    return stat !== null && !isGone(stat.state) && namespaceOf(pid) === namespace
  })
}

/**
 * Every living process of a recorded run: the boundary's own, its group, and what is in its PID namespace.
 *
 * The kernel hands a namespace's number out again once it ended, so a namespace whose first process is the child of
 * another living boundary is not the run's. Empty means: nothing of that run is alive.
 */
export function livingOf(identity: ProcessIdentity): number[] {
  if (identity.boot_id !== bootId()) return []
  const living = new Set(ownGroup(identity))
  if (isAlive(identity)) living.add(identity.pid)
  const members = identity.pid_namespace === null ? [] : namespaceMembers(identity.pid_namespace)
  if (!members.some((pid) => belongsToAnother(pid, identity))) for (const pid of members) living.add(pid)
  return [...living].sort((a, b) => a - b)
}

/** Living members of a boundary's own group, unless its number was given to another process since. */
export function ownGroup(identity: ProcessIdentity): number[] {
  const leader = readStat(identity.pid)
  if (leader !== null && leader.startTicks !== identity.start_ticks) return []
  return groupMembers(identity.pid)
}

/** Living processes of the process group `group`. */
export function groupMembers(group: number): number[] {
  return processIds().filter((pid) => {
    const stat = readStat(pid)
    return stat !== null && stat.group === group && !isGone(stat.state)
  })
}

/** This boot's own identifier, or an empty text where the system has none. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

/** Inode of the PID namespace of `pid`; null when it cannot be read. */
export function namespaceOf(pid: number): number | null {
  try {
    const match = /^pid:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/ns/pid`))
    return match?.[1] === undefined ? null : Number(match[1])
  } catch {
    return null
  }
}

function isGone(state: string): boolean {
  return state === 'Z' || state === 'X' || state === 'x'
}

/** Whether `pid` is the child of a living boundary that is not this run's. */
function belongsToAnother(pid: number, identity: ProcessIdentity): boolean {
  const parent = readStat(pid)?.parent ?? 0
  if (parent <= 1) return false
  if (parent === identity.pid) return !isAlive(identity)
  const stat = readStat(parent)
  return (
    stat !== null &&
    stat.command === 'bwrap' &&
    !isGone(stat.state) &&
    namespaceOf(parent) !== identity.pid_namespace
  )
}
