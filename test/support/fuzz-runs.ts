/**
 * How often a property that needs its own number is tried: `runs` in an ordinary test run, and in a long one as much
 * more as DRAWBRIDGE_FUZZ_RUNS is more than the library's usual hundred.
 */
export function fuzzRuns(runs: number): number {
  const asked = Number(process.env['DRAWBRIDGE_FUZZ_RUNS'] ?? '')
  return Number.isInteger(asked) && asked > 0 ? Math.ceil((runs * asked) / 100) : runs
}
