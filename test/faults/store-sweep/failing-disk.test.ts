import { describe, expect, it } from 'vitest'
import { sweepStore } from './sweep.ts'

describe('a command on a task store whose disk fails at a write, a sync, a rename or a removal', () => {
  it.each(['EIO', 'ENOSPC'] as const)(
    'refuses for %s, and the same bytes again come to one command',
    async (fault) => {
      const { found, hit, faults } = await sweepStore(fault)
      expect(faults).toEqual([])
      expect([found > 20, hit]).toEqual([true, found])
    },
    1_800_000,
  )
})
