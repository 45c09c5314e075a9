import { describe, expect, it } from 'vitest'
import { breathe, fewAtOnce } from '../../src/seams/clock.ts'

describe('a few at once', () => {
  it.each([1, 3])('lets the first through at once, and %i in each round', async (perRound) => {
    const turn = fewAtOnce(perRound)
    let through = 0
    for (let caller = 0; caller < 7; caller += 1) void turn().then(() => (through += 1))
    await Promise.resolve()
    const seen = [through]
    for (let round = 0; round < 7; round += 1) {
      await breathe()
      seen.push(through)
    }
    expect(seen).toEqual(Array.from({ length: 8 }, (_, round) => Math.min(7, (round + 1) * perRound)))
  })

  it('lets whoever comes after a quiet round through at once', async () => {
    const turn = fewAtOnce(1)
    await turn()
    await breathe()
    await breathe()
    let through = false
    void turn().then(() => {
      through = true
    })
    await Promise.resolve()
    await Promise.resolve()
    expect(through).toBe(true)
  })
})
