import { describe, it } from 'vitest'
import { playSeeds, seedsTimeoutMs } from './seeds.ts'

describe('the first half of the seeded worlds', () => {
  it('keeps every invariant after every step and at rest', () => playSeeds(0), seedsTimeoutMs)
})
