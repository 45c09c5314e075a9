import { describe, expect, it } from 'vitest'
import { createTurns, type Turns } from '../../src/bridge/turns.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'

/** Asks for turns and keeps what was done, in its order. */
function asking(turns: Turns) {
  const done: string[] = []
  const work = (name: string) => async () => {
    done.push(name)
    return true
  }
  return { done, ask: (name: string) => turns.take(name, work(name)) }
}

const bounds = { atOnce: 3, everyMs: 10 }
const names = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => String(from + at))

describe('turns', () => {
  it('are given at once up to a number, then one each time, in the order of asking', async () => {
    const clock: FakeClock = fakeClock()
    const { done, ask } = asking(createTurns(clock, bounds))
    for (const name of names(0, 6)) void ask(name)
    await clock.advance(0)
    expect(done).toEqual(names(0, 3))
    await clock.advance(10)
    expect(done).toEqual(names(0, 4))
    await clock.advance(20)
    expect(done).toEqual(names(0, 6))
  })

  it('come back after a quiet while, no more of them than at first', async () => {
    const clock = fakeClock()
    const { done, ask } = asking(createTurns(clock, bounds))
    for (const name of names(0, 3)) void ask(name)
    await clock.advance(1_000_000)
    for (const name of names(3, 8)) void ask(name)
    await clock.advance(0)
    expect(done).toEqual(names(0, 6))
  })

  it('are shared by those who ask under a key that waits; once begun, the next ask is another', async () => {
    const clock = fakeClock()
    const { done, ask } = asking(createTurns(clock, { atOnce: 1, everyMs: 10 }))
    const first = ask('first')
    const [one, other] = [ask('busy'), ask('busy')]
    await clock.advance(10)
    expect(await Promise.all([first, one, other])).toEqual([true, true, true])
    expect(done).toEqual(['first', 'busy'])
    void ask('busy')
    await clock.advance(10)
    expect(done).toEqual(['first', 'busy', 'busy'])
  })

  it('are given to nobody after the end, those who wait included', async () => {
    const clock = fakeClock()
    const turns = createTurns(clock, { atOnce: 1, everyMs: 10 })
    const { done, ask } = asking(turns)
    await ask('first')
    const late = ask('late')
    turns.close()
    expect([await late, await ask('later')]).toEqual([false, false])
    await clock.advance(100)
    expect(done).toEqual(['first'])
  })
})
