import { cpus, freemem, totalmem } from 'node:os'
import type { Clock } from './clock.ts'

/** How busy this machine is, in whole numbers. */
export interface MachineLoad {
  readonly cpu_count: number
  /** Of all processors, since the reading before. */
  readonly cpu_utilization_pct: number
  readonly memory_available_pct: number
}

/** Where the load of the machine is read. */
export interface Telemetry {
  /** Null while nothing can be said yet. */
  read(): MachineLoad | null
}

/** Says nothing of the machine. */
export const noTelemetry: Telemetry = { read: () => null }

/** Two readings closer than this say too little of the time between them. */
const readingMsMin = 1_000

/** What a machine says of itself: the busy and idle milliseconds of each processor, and bytes of memory. */
export interface Machine {
  cpus(): readonly { readonly times: Readonly<Record<'user' | 'nice' | 'sys' | 'irq' | 'idle', number>> }[]
  freemem(): number
  totalmem(): number
}

/** This machine's load. A first reading only begins to measure; one soon after another repeats it. */
export function systemTelemetry(clock: Clock, machine: Machine = { cpus, freemem, totalmem }): Telemetry {
  let before = { at: clock.nowMs(), ...cpuTimes(machine) }
  let last: MachineLoad | null = null
  return {
    read() {
      const at = clock.nowMs()
      if (Math.abs(at - before.at) < readingMsMin) return last
      const now = { at, ...cpuTimes(machine) }
      const total = now.total - before.total
      const busy = total - (now.idle - before.idle)
      before = now
      // A machine that says nothing of its processors has no load that could be told.
      if (total <= 0) return last
      last = {
        cpu_count: now.count,
        cpu_utilization_pct: percent(busy / total),
        memory_available_pct: percent(machine.freemem() / machine.totalmem()),
      }
      return last
    },
  }
}

/** Milliseconds that the processors have counted since the machine started. */
function cpuTimes(machine: Machine): { count: number; idle: number; total: number } {
  const each = machine.cpus()
  let idle = 0
  let total = 0
  for (const { times } of each) {
    idle += times.idle
    total += times.user + times.nice + times.sys + times.irq + times.idle
  }
  return { count: each.length, idle, total }
}

function percent(share: number): number {
  return Math.min(100, Math.max(0, Math.round(share * 100)))
}
