import { describe, expect, it } from 'vitest'
import { wireRefusalOf } from '../../src/bridge/wire-code.ts'
import { cliCodes, Refusal, type RefusalCode, storeCodes, wireCodes } from '../../src/protocol/refusal.ts'

const stores: readonly [RefusalCode, string][] = [
  ['revision_mismatch', 'stale'],
  ['invalid_transition', 'conflict'],
  ['command_conflict', 'conflict'],
  ['workspace_busy', 'conflict'],
  ['not_found', 'forbidden'],
  ['limit_exceeded', 'bounds'],
]
const named = new Set<string>([...wireCodes, ...stores.map(([code]) => code)])

describe('what a failed operation is called on the wire', () => {
  it.each(stores)('%s of the store is %s', (code, word) => {
    expect(wireRefusalOf(new Refusal(code, 'why'))).toEqual({ code: word, missing: null })
  })

  it.each(wireCodes.filter((code) => code !== 'missing_right'))('%s keeps its name', (code) => {
    expect(wireRefusalOf(new Refusal(code, 'why'))).toEqual({ code, missing: null })
  })

  it.each([...storeCodes, ...cliCodes].filter((code) => !named.has(code)))('%s is unavailable', (code) => {
    expect(wireRefusalOf(new Refusal(code, 'why'))).toEqual({ code: 'unavailable', missing: null })
  })

  it('a missing right is named, and what is no refusal is unavailable', () => {
    const missing = new Refusal('missing_right', 'why', { missing: 'operate' })
    expect(wireRefusalOf(missing)).toEqual({ code: 'missing_right', missing: 'operate' })
    expect(wireRefusalOf(new Refusal('missing_right', 'why'))).toEqual({ code: 'forbidden', missing: null })
    expect(wireRefusalOf(new TypeError('a bug'))).toEqual({ code: 'unavailable', missing: null })
  })
})
