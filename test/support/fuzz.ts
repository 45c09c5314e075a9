import { appendFileSync } from 'node:fs'
import fc from 'fast-check'

/**
 * DRAWBRIDGE_FUZZ_RUNS sets how often each property is tried, DRAWBRIDGE_FUZZ_SEED repeats the draws of a run that
 * failed and named its seed, and each property that was tried leaves `FILE:LINE RUNS` in the file that
 * DRAWBRIDGE_FUZZ_REPORT names. Without them this does nothing.
 */
const runs = Number(process.env['DRAWBRIDGE_FUZZ_RUNS'] ?? '')
const seed = Number.parseInt(process.env['DRAWBRIDGE_FUZZ_SEED'] ?? '', 10)
const report = process.env['DRAWBRIDGE_FUZZ_REPORT']

if (Number.isInteger(runs) && runs > 0) fc.configureGlobal({ numRuns: runs })
if (Number.isInteger(seed)) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
if (report !== undefined) {
  fc.configureGlobal({
    ...fc.readConfigureGlobal(),
    reporter(details) {
      appendFileSync(report, `${whereAsserted()} ${details.numRuns}\n`)
      if (details.failed) throw new Error(fc.defaultReportMessage(details))
    },
  })
}

/** The line of the test file that is asserting, from the stack. */
function whereAsserted(): string {
  const lines = (new Error().stack ?? '').split('\n')
  const found = lines
    .map((line) => /([\w/.-]+\.test\.ts:\d+)/.exec(line)?.[1])
    .find((place) => place !== undefined)
  return found ?? 'unknown'
}
