import { appendFileSync } from 'node:fs'
import { afterAll } from 'vitest'

/** Counts the fuzz cases of one area as they are run. */
export interface FuzzCases {
  /** Says that so many cases were run to their end just now. */
  ran(count?: number): void
}

/**
 * Counts cases and the time from the first to the last. With DRAWBRIDGE_FUZZ_CASES set, the end of the test file
 * leaves `AREA CASES SECONDS` there, tab-separated, which `scripts/fuzz-cases` adds up.
 */
export function fuzzCases(area: string): FuzzCases {
  const began = performance.now()
  let cases = 0
  let ended = began
  afterAll(() => {
    const file = process.env['DRAWBRIDGE_FUZZ_CASES']
    const seconds = ((ended - began) / 1_000).toFixed(3)
    if (file !== undefined) appendFileSync(file, `${area}\t${cases}\t${seconds}\n`)
  })
  return {
    ran(count = 1) {
      cases += count
      ended = performance.now()
    },
  }
}
