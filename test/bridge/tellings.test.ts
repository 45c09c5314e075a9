import { describe, expect, it } from 'vitest'
import { createTellings } from '../../src/bridge/tellings.ts'
import { fakeClock } from '../support/fake-clock.ts'

const bounds = { everyMs: 1_000, retryMs: 10_000, giveUpMs: 60_000, onTheWayMax: 2 }

/** What was told, when, and how each telling ends. */
function stage() {
  const clock = fakeClock()
  const start = clock.nowMs()
  const told: string[] = []
  const endings: ((arrived: boolean) => void)[] = []
  const tellings = createTellings(clock, bounds, (subject) => {
    told.push(`${clock.nowMs() - start} ${subject}`)
    return new Promise((resolve) => endings.push(resolve))
  })
  const end = async (index: number, arrived: boolean) => {
    endings[index]?.(arrived)
    await clock.advance(0)
  }
  return { clock, told, tellings, end }
}

describe('telling a peer', () => {
  it('tells a subject at once, and of what follows in a second only at its end', async () => {
    const { clock, told, tellings, end } = stage()
    tellings.add('a')
    await end(0, true)
    for (let change = 0; change < 5; change += 1) {
      await clock.advance(100)
      tellings.add('a')
    }
    await clock.advance(10_000)
    expect(told).toEqual(['0 a', '1000 a'])
  })

  it('has so many on their way at once, and the rest in the order of the news', async () => {
    const { told, tellings, end } = stage()
    for (const subject of ['a', 'b', 'c', 'd']) tellings.add(subject)
    expect(told).toEqual(['0 a', '0 b'])
    await end(1, true)
    await end(0, true)
    expect(told).toEqual(['0 a', '0 b', '0 c', '0 d'])
  })

  it('replaces what is on its way by the newest, without a place of its own', async () => {
    const { clock, told, tellings, end } = stage()
    for (const subject of ['a', 'b']) tellings.add(subject)
    await clock.advance(1_000)
    tellings.add('a')
    expect(told).toEqual(['0 a', '0 b', '1000 a'])
    // The end of the one that was replaced means nothing.
    await end(0, false)
    await end(2, true)
    await clock.advance(60_000)
    expect(told.length).toBe(3)
  })

  it('tells again what did not arrive, and gives up when it is too old', async () => {
    const { clock, told, tellings, end } = stage()
    tellings.add('a')
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await end(attempt, false)
      await clock.advance(10_000)
    }
    expect(told).toEqual([0, 1, 2, 3, 4, 5, 6].map((attempt) => `${attempt * 10_000} a`))
    expect(clock.pending()).toBe(0)
  })

  it('tells nothing once it is closed', async () => {
    const { clock, told, tellings, end } = stage()
    tellings.add('a')
    tellings.add('a')
    tellings.close()
    await end(0, false)
    tellings.add('b')
    await clock.advance(60_000)
    expect(told).toEqual(['0 a'])
  })
})
