import { describe, expect, it } from 'vitest'
import { standing } from '../../../src/cli/device/standing.ts'

const about = { kind: 'queue', id: 'c'.repeat(64), task: 'task-1', queued_at: 0 } as const

describe('how a send stands, for a person', () => {
  it('is accepted, refused with its code, or unknown and still tried, even when the time to wait is over', () => {
    expect(standing({ ...about, state: 'accepted' })).toBe('accepted')
    expect(standing({ ...about, state: 'refused', code: 'stale', missing: null })).toBe('refused stale')
    const why = 'no answer in 30 s'
    expect(standing({ ...about, state: 'unknown', why })).toBe(`unknown, still trying (${why})`)
  })
})
