import { describe, it } from 'vitest'
import { playSeeds, seedsTimeoutMs } from './seeds.ts'

describe('the second half of the seeded worlds', () => {
  it('keeps every invariant after every step and at rest', () => playSeeds(1), seedsTimeoutMs)
})
