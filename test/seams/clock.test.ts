import { describe, expect, it } from 'vitest'
import { breathe, oneByOne } from '../../src/seams/clock.ts'

describe('one by one', () => {
  it('lets the first through at once, and each of the others in a later round than the one before', async () => {
    const turn = oneByOne()
    const rounds: number[] = []
    const through = [1, 2, 3, 4].map(() => turn().then(() => rounds.push(round)))
    let round = 0
    for (; round < 10; round += 1) await breathe()
    await Promise.all(through)
    expect(rounds[0]).toBe(0)
    expect(new Set(rounds).size).toBe(4)
    expect(rounds).toEqual([...rounds].sort((one, other) => one - other))
  })

  it('lets whoever comes after a quiet round through at once', async () => {
    const turn = oneByOne()
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
