import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'

const everyMs = 1
const targetMs = 20

/** How long an event loop let a timer wait that was due, in milliseconds. */
export interface Stalls {
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** The 99th percentile of a loop beside it that had nothing to do. */
  readonly idleP99: number
}

/** Watches this process's event loop, and an idle one beside it, until the end is asked for. */
export async function watchStalls(): Promise<() => Promise<Stalls>> {
  const idle = new Worker(new URL('./floors/idle-loop.mjs', import.meta.url), {
    workerData: everyMs,
    execArgv: [],
  })
  await once(idle, 'online')
  const histogram = monitorEventLoopDelay({ resolution: everyMs })
  histogram.enable()
  return async () => {
    histogram.disable()
    idle.postMessage('end')
    const [idleP99] = await once(idle, 'message')
    const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - everyMs)
    const [p50, p99] = [ms(histogram.percentile(50)), ms(histogram.percentile(99))]
    return { p50, p99, max: ms(histogram.max), idleP99: ms(Number(idleP99)) }
  }
}

/** The worst of each, of several times of watching. */
export function worstOf(times: readonly Stalls[]): Stalls {
  const worst = (name: keyof Stalls) => Math.max(...times.map((time) => time[name]))
  return { p50: worst('p50'), p99: worst('p99'), max: worst('max'), idleP99: worst('idleP99') }
}

/** `event loop stalls p50 0.1 ms, p99 2.3 ms (idle loop 0.2 ms), longest 5.6 ms (target p99 ≤ 20 ms: met)` */
export function sayStalls({ p50, p99, max, idleP99 }: Stalls): string {
  const each = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (idle loop ${idleP99.toFixed(1)} ms)`
  return `event loop stalls ${each}, longest ${max.toFixed(1)} ms (target p99 ≤ ${targetMs} ms: ${met(p99 <= targetMs)})`
}

export function met(yes: boolean): string {
  return yes ? 'met' : 'MISSED'
}
