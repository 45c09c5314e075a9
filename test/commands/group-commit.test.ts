import { describe, expect, it } from 'vitest'
import { groupCommit } from '../../src/commands/group-commit.ts'
import { singleFlight } from '../../src/commands/single-flight.ts'

describe('group commit', () => {
  it('serves everyone who arrived while a write was syncing with the next', async () => {
    const disk = manual()
    let version = 0
    const writes = groupCommit(async () => {
      const written = version
      await disk.call()
      return written
    })
    version = 1
    const first = writes.until(1)
    const rest = [2, 3, 4].map((next) => {
      version = next
      return writes.until(next)
    })
    await disk.finish()
    await first
    expect([disk.calls, writes.durable()]).toEqual([2, 1])
    await disk.finish()
    await Promise.all(rest)
    expect([disk.calls, writes.durable()]).toEqual([2, 4])
  })

  it('writes nothing for what is durable already', async () => {
    let calls = 0
    const writes = groupCommit(async () => {
      calls += 1
      return 5
    })
    await writes.until(5)
    await writes.until(3)
    expect(calls).toBe(1)
  })

  it('tells everyone who waits that a write failed, and goes on with the next', async () => {
    let fails = true
    const writes = groupCommit(async () => {
      if (fails) throw new Error('no space left')
      return 9
    })
    const waits = [writes.until(1), writes.until(2)]
    for (const wait of await Promise.allSettled(waits)) expect(wait.status).toBe('rejected')
    fails = false
    await writes.until(3)
    expect(writes.durable()).toBe(9)
  })
})

describe('single flight', () => {
  it('runs one at a time per key, and all who ask meanwhile share the next, in their order', async () => {
    const work = manual()
    const flights = singleFlight(async () => {
      await work.call()
      return work.calls
    })
    const order: string[] = []
    const ask = (name: string) => flights.ask('a').then((run) => order.push(`${name} by ${run}`))
    const asked = [ask('first'), ask('second'), ask('third')]
    expect(work.calls).toBe(1)
    await work.finish()
    await work.finish()
    await Promise.all(asked)
    expect(order).toEqual(['first by 1', 'second by 2', 'third by 2'])
    await flights.idle()
  })

  it('keeps keys independent, and a failure to those who asked', async () => {
    const flights = singleFlight(async (key) => {
      if (key === 'bad') throw new Error('planted')
      return key
    })
    const bad = flights.ask('bad')
    const again = flights.ask('bad')
    expect(await flights.ask('good')).toBe('good')
    await expect(bad).rejects.toThrow('planted')
    await expect(again).rejects.toThrow('planted')
    await flights.idle()
  })
})

/** Calls that end when the test says so. */
function manual() {
  const open: (() => void)[] = []
  const made = {
    calls: 0,
    call: () =>
      new Promise<void>((resolve) => {
        made.calls += 1
        open.push(resolve)
      }),
    async finish() {
      open.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
  return made
}
