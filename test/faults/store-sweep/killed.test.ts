import { describe, expect, it } from 'vitest'
import { sweepStore } from './sweep.ts'

describe('a command on a task store that is killed at a write, a sync, a rename or a removal', () => {
  it('has lost nothing that it acknowledged, and the same bytes again come to one command', async () => {
    const { found, hit, faults } = await sweepStore('kill')
    expect(faults).toEqual([])
    expect([found > 20, hit]).toEqual([true, found])
  }, 1_800_000)
})
