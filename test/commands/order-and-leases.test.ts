import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry, EntryState, Lease } from '../../src/commands/journal-entry.ts'
import { askLease, type Contention, isLive } from '../../src/commands/leases.ts'
import { hasNewerInterrupt, isHeldAhead, runOrder } from '../../src/commands/queue-order.ts'
import '../support/fuzz.ts'

const phone = 'd'.repeat(64)
const tablet = 'e'.repeat(64)
const laptop = 'f'.repeat(64)
const start = 1_795_000_000

describe('what is held ahead', () => {
  const plain = entryOf('queue', { state: 'held', priority: false })
  const first = entryOf('steer', { state: 'held', priority: true })
  const queue = entryOf('queue', { state: 'received' })
  const steer = entryOf('steer', { state: 'received' })
  const promoted: Entry = { ...entryOf('queue', { state: 'held', priority: false }), promoted: true }

  it('of a message is any held one earlier, and any with priority, even later', () => {
    expect(isHeldAhead([plain, queue], queue)).toBe(true)
    expect(isHeldAhead([queue, plain], queue)).toBe(false)
    expect(isHeldAhead([queue, first], queue)).toBe(true)
    expect(isHeldAhead([queue], queue)).toBe(false)
  })

  it('of a steer and of a message sent now is only one with priority, earlier', () => {
    for (const jumper of [steer, promoted]) {
      expect(isHeldAhead([plain, jumper], jumper)).toBe(false)
      expect(isHeldAhead([first, jumper], jumper)).toBe(true)
      expect(isHeldAhead([jumper, first], jumper)).toBe(false)
    }
  })

  it('a newer interrupt is a later one', () => {
    const one = entryOf('interrupt', { state: 'received' })
    const two = entryOf('interrupt', { state: 'received' })
    expect(hasNewerInterrupt([one, plain, two], one)).toBe(true)
    expect(hasNewerInterrupt([one, plain, two], two)).toBe(false)
  })

  it('messages with priority run first, each part in journal order', () => {
    expect(runOrder([plain, queue, first, promoted])).toEqual([first, promoted, plain])
  })
})

describe('who gets the lease', () => {
  /** Asks in turn, each `wait` seconds after the one before; gives what each was answered. */
  function asks(...steps: [device: string, wait: number][]) {
    let now = start
    let lease: Lease | null = null
    let contention: Contention | null = null
    return steps.map(([device, wait]) => {
      now += wait
      const answer = askLease('task-1', device, { lease, contention }, now)
      lease = answer.lease
      contention = answer.contention
      return [answer.granted, answer.lease.device, answer.lease.expires_at - now] as const
    })
  }
  const renewals = (device: string, count: number) =>
    Array.from({ length: count }, (): [string, number] => [device, 50])

  it('whoever asks first, until 60 s after the last renewal', () => {
    expect(asks([phone, 0], [tablet, 59], [tablet, 1])).toEqual([
      [true, phone, 60],
      [false, phone, 1],
      [true, tablet, 60],
    ])
  })

  it('keeps it for ever while nobody else asks', () => {
    const answers = asks([phone, 0], ...renewals(phone, 40))
    expect(answers.every(([granted, device]) => granted && device === phone)).toBe(true)
  })

  it('hands it over at the renewal after ten minutes, when another asked within the last minute', () => {
    const until = asks([phone, 0], ...renewals(phone, 11), [tablet, 49], [phone, 0])
    expect(until.at(-1)).toEqual([true, phone, 60])
    const after = asks([phone, 0], ...renewals(phone, 11), [tablet, 49], [phone, 1], [tablet, 1])
    expect(after.slice(-2)).toEqual([
      [false, tablet, 60],
      [true, tablet, 60],
    ])
  })

  it('forgets who asked after a minute', () => {
    const answers = asks([phone, 0], [tablet, 0], ...renewals(phone, 20))
    expect(answers.at(-1)).toEqual([true, phone, 60])
  })

  it('of several who ask, the first; the old holder then waits like anybody', () => {
    const steps = asks([phone, 0], ...renewals(phone, 12), [tablet, 1], [laptop, 1], [phone, 1], [laptop, 1])
    expect(steps.slice(-2)).toEqual([
      [false, tablet, 60],
      [false, tablet, 59],
    ])
  })

  it('is never two, and never longer than 60 s', () => {
    const step = fc.tuple(fc.constantFrom(phone, tablet, laptop), fc.nat(90))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        asks(...steps).forEach(([granted, holder, left], index) => {
          expect(left).toBeGreaterThan(0)
          expect(left).toBeLessThanOrEqual(60)
          if (granted) expect(holder).toBe(steps[index]?.[0])
        })
      }),
    )
  })

  it('a lapsed one no longer counts, to the second', () => {
    const lease = { task: 'task-1', device: phone, expires_at: start }
    expect([isLive(lease, start - 1), isLive(lease, start), isLive(null, start)]).toEqual([
      true,
      false,
      false,
    ])
  })
})

let minted = 0

function entryOf(kind: Entry['request']['kind'], state: EntryState): Entry {
  minted += 1
  const command = minted.toString(16).padStart(64, '0')
  return {
    sender: { device: phone, grant: null, epoch: null },
    request: { command, task: 'task-1', kind, based_on: 1, text: 'x', emulate: false, issued_at: start },
    received_at: start,
    state,
  }
}
