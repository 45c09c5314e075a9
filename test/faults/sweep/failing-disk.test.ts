import { describe, expect, it } from 'vitest'
import { sweep } from './sweep.ts'

describe('a service whose disk fails at a write, a sync or a rename', () => {
  it('with an error once: says so or goes on, and comes to the same end', async () => {
    const { found, hit, faults } = await sweep('EIO')
    expect(faults).toEqual([])
    expect([found > 30, hit]).toEqual([true, found])
  }, 1_800_000)

  it('for want of room until there is some: says so, stays alive, and works again without a restart', async () => {
    const { found, hit, faults } = await sweep('ENOSPC')
    expect(faults).toEqual([])
    expect([found > 30, hit]).toEqual([true, found])
  }, 1_800_000)
})
