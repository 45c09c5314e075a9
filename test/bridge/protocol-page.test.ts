import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Counted, counted } from '../../src/bridge/counters.ts'
import { wireCodes } from '../../src/protocol/refusal.ts'
import { fixtureFolder, pageFile, readFixture } from '../support/recording/files.ts'
import type { Fixture, Step } from '../support/recording/fixture.ts'
import { earningsOf, recordedParts, withRecordedParts } from '../support/recording/page.ts'
import { scenarios } from '../support/recording/scenarios/all.ts'

const page = readFileSync(pageFile, 'utf8')
const fixtures = scenarios.map(({ name }) => readFixture(name))
const earnings = earningsOf(fixtures)

/** Counts of what was done, and of what only happens under load or by a fault of the host. */
const noSilences: readonly Counted[] = [
  'received',
  'answered',
  'nudges_answered',
  'published',
  'publish_failed',
  'in_flight',
  'too_many_in_flight',
  'expired_meanwhile',
  'oversized_answer',
  'failed',
]

/** The rows of the table under a heading: its first cell's word, and the files of its last. */
function rowsUnder(heading: string): { word: string; files: string[] }[] {
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^\| `([^`]+)` \| .+ \| (.+) \|$/gm)].map(([, word, links]) => ({
    word: word ?? '',
    files: [...(links ?? '').matchAll(/relay-fixtures\/([a-z-]+)\.json/g)].map(([, name]) => name ?? ''),
  }))
}

/** Whether a step's own reply refuses with a code (and right); of many requests the count says it. */
function isRefusedBy(fixture: Fixture, step: Step, index: number, words: string): boolean {
  if (step.do === 'deliver' && 'like' in step) return step.earns.includes(`refused ${words}`)
  return fixture.replies.some(({ step: number, opened }) => {
    const { code, missing } = (typeof opened === 'string' ? {} : (opened['result'] ?? {})) as {
      code?: string
      missing?: string | null
    }
    return number === index + 1 && [code, missing].filter((word) => word !== null).join(' ') === words
  })
}

describe("the protocol's page", () => {
  it('shows what is recorded (else: npm run fixtures)', () => {
    expect(withRecordedParts(page, recordedParts(fixtures))).toBe(page)
    for (const part of recordedParts(fixtures).keys()) expect(page).toContain(`<!-- recorded: ${part} -->`)
  })

  it('has a row for each code that a refusal can have', () => {
    const codes = new Set(rowsUnder('What earns a refusal').map(({ word }) => word.split(' ')[0]))
    expect([...codes].sort()).toEqual([...wireCodes].sort())
  })

  it('has a row for each silence that is counted', () => {
    const reasons = new Set(rowsUnder('What earns nothing').map(({ word }) => word))
    expect([...reasons].sort()).toEqual(counted.filter((word) => !noSilences.includes(word)).sort())
  })

  it('names exchanges that are there and hold that very refusal', () => {
    const rows = rowsUnder('What earns a refusal')
    expect(rows.length).toBeGreaterThan(100)
    for (const { word, files } of rows) {
      expect(files.length).toBeGreaterThan(0)
      for (const name of files) {
        expect(existsSync(`${fixtureFolder}${name}.json`)).toBe(true)
        const fixture = readFixture(name)
        const holds = fixture.steps.some((step, index) => isRefusedBy(fixture, step, index, word))
        expect(holds, `${name} holds ${word}`).toBe(true)
      }
    }
  })

  it('says of each refusal and silence what earns it', () => {
    expect(earnings.filter(({ why }) => why === '')).toEqual([])
  })

  it('would notice an exchange that answers otherwise', () => {
    const [first, ...rest] = fixtures
    if (first === undefined) throw new Error('nothing is recorded')
    const changed = { ...first, name: 'worked-exchange', start: { ...first.start, at: first.start.at - 1 } }
    expect(withRecordedParts(page, recordedParts([changed, ...rest]))).not.toBe(page)
  })
})
