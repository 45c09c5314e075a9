import { performance } from 'node:perf_hooks'

/** Milliseconds of one run of `work`. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The value below which `share` (0–1) of the samples lie. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = Math.min(sorted.length - 1, Math.floor(share * sorted.length))
  return sorted[at] ?? Number.NaN
}

/** `median 1.234 ms, p99 2.345 ms (n = 100)` */
export function summary(samples: readonly number[]): string {
  const ms = (share: number): string => `${quantile(samples, share).toFixed(3)} ms`
  return `median ${ms(0.5)}, p99 ${ms(0.99)} (n = ${samples.length})`
}

/** Prints what was measured, what it cannot avoid, and their ratio against the target. */
export function compare(
  name: string,
  product: readonly number[],
  floor: readonly number[],
  target?: number,
): void {
  const ratio = quantile(product, 0.5) / quantile(floor, 0.5)
  console.log(`${name}\n  product  ${summary(product)}\n  floor    ${summary(floor)}`)
  const aim = target === undefined ? '' : ` (target ≤ ${target.toFixed(2)} ×)`
  console.log(`  ratio of medians ${ratio.toFixed(2)} ×${aim}`)
}
