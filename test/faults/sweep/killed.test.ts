import { describe, expect, it } from 'vitest'
import { sweep } from './sweep.ts'

describe('a service that is killed at a write, a sync or a rename', () => {
  it('has lost nothing that it acknowledged, did nothing twice, and goes on to the same end', async () => {
    const { found, hit, faults } = await sweep('kill')
    expect(faults).toEqual([])
    expect([found > 30, hit]).toEqual([true, found])
  }, 1_800_000)
})
