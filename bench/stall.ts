import { monitorEventLoopDelay } from 'node:perf_hooks'

const everyMs = 1
const targetMs = 20

/** How long an event loop let a timer wait that was due, in milliseconds. */
export interface Stalls {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Watches this process's event loop until the end is asked for. */
export function watchStalls(): () => Stalls {
  const histogram = monitorEventLoopDelay({ resolution: everyMs })
  histogram.enable()
  return () => {
    histogram.disable()
    const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - everyMs)
    return { p50: ms(histogram.percentile(50)), p99: ms(histogram.percentile(99)), max: ms(histogram.max) }
  }
}

/** `event loop stalls p50 0.1 ms, p99 2.3 ms, longest 5.6 ms (target p99 ≤ 20 ms: met)` */
export function sayStalls({ p50, p99, max }: Stalls): string {
  const each = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${max.toFixed(1)} ms`
  return `event loop stalls ${each} (target p99 ≤ ${targetMs} ms: ${met(p99 <= targetMs)})`
}

export function met(yes: boolean): string {
  return yes ? 'met' : 'MISSED'
}
