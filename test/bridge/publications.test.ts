import { beforeEach, describe, expect, it } from 'vitest'
import { createPublications, type Publications } from '../../src/bridge/publications.ts'
import { relayBufferedBytesMax } from '../../src/limits.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { RelayConnection } from '../../src/protocol/relay-connection.ts'
import { type OkPrefix, okPrefixes } from '../../src/protocol/relay-frames.ts'
import type { PublishOutcome } from '../../src/protocol/relay-session.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { artifact } from '../support/artifact.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { host, phone } from './link-stage.ts'

let clock: FakeClock
let sent: string[]
let pending: Set<string>
let publications: Publications

beforeEach(() => {
  clock = fakeClock()
  sent = []
  pending = new Set()
  const connection: RelayConnection = {
    publish(event) {
      sent.push(event.id)
      pending.add(event.id)
    },
    isPending: (id) => pending.has(id),
    forget: (id) => void pending.delete(id),
    isLive: () => true,
    auth: () => 'none',
    heardMs: () => 0,
    close: () => {},
  }
  publications = createPublications(clock, { bytes: (count) => new Uint8Array(count).fill(255) }, () => [
    connection,
  ])
})

const event = (changes: Parameters<typeof artifact>[2] = {}): NostrEvent =>
  artifact(host, phone.publicKey, changes)
const refuse = (id: string, prefix: OkPrefix): void => {
  pending.delete(id)
  publications.answered(id, { outcome: 'refused', prefix, message: `${prefix}: no` })
}
const accept = (id: string): void => publications.answered(id, { outcome: 'accepted', duplicate: false })
const inSeconds = (seconds: number): number => nowSeconds(clock) + seconds
const passing = ['error', 'mute', 'none', 'rate-limited'] as const
const final = okPrefixes.filter(
  (prefix) => !passing.some((other) => other === prefix) && prefix !== 'duplicate',
)

describe('a publication', () => {
  it.each(passing)(
    'refused with %s goes out again after a growing pause, and never once it is stale',
    async (prefix) => {
      const one = event()
      const outcome = publications.publish(one, inSeconds(60))
      const at: number[] = []
      const from = clock.nowMs()
      for (let second = 0; second < 70; second += 1) {
        if (sent.length > at.length) {
          at.push((clock.nowMs() - from) / 1000)
          refuse(one.id, prefix)
        }
        await clock.advance(1_000)
      }
      expect(await outcome).toEqual({ outcome: 'unknown' })
      expect(at).toEqual([0, 1, 3, 7, 15, 31])
      expect(Math.max(...at)).toBeLessThan(60)
    },
  )

  it.each(final)('refused with %s is over, with that word', async (prefix) => {
    const one = event()
    const outcome = publications.publish(one, inSeconds(60))
    refuse(one.id, prefix)
    expect(await outcome).toMatchObject({ outcome: 'refused', prefix })
    await clock.advance(60_000)
    expect(sent).toEqual([one.id])
  })

  it('that nobody answers goes out every ten seconds while it is fresh', async () => {
    const one = event()
    const outcome = publications.publish(one, inSeconds(25))
    await clock.advance(120_000)
    expect([sent.length, await outcome, publications.count()]).toEqual([3, { outcome: 'unknown' }, 0])
    expect([pending.size, clock.pending()]).toEqual([0, 0])
  })

  it('that is stale from the start never goes out', async () => {
    expect(await publications.publish(event(), inSeconds(0))).toEqual({ outcome: 'unknown' })
    expect(sent).toEqual([])
  })

  it('goes out on a connection that became live only if it does not wait for its answer there', () => {
    const one = event()
    void publications.publish(one, inSeconds(60))
    publications.resend()
    expect(sent).toHaveLength(1)
    pending.clear()
    publications.resend()
    expect(sent).toHaveLength(2)
  })

  it('in a slot gives up the one that waits there, and no other', async () => {
    const [first, other, second] = [event(), event(), event()]
    const given = publications.publish(first, inSeconds(60), 'presence')
    void publications.publish(other, inSeconds(60), 'another')
    void publications.publish(second, inSeconds(60), 'presence')
    expect(await given).toEqual({ outcome: 'unknown' })
    expect([publications.count(), [...pending]]).toEqual([2, [other.id, second.id]])
  })

  it('beyond what may wait is unknown at once', async () => {
    const content = 'x'.repeat(1_000_000)
    const count = Math.ceil(relayBufferedBytesMax / content.length) + 1
    const outcomes: Promise<PublishOutcome>[] = []
    for (let index = 0; index <= count; index += 1)
      outcomes.push(publications.publish(event({ content }), inSeconds(60)))
    expect(await outcomes.at(-1)).toEqual({ outcome: 'unknown' })
    expect(publications.count()).toBeLessThanOrEqual(count)
  })
})

describe('a relay that limits the rate', () => {
  const publishAll = (count: number): NostrEvent[] => {
    const events = Array.from({ length: count }, () => event())
    for (const one of events) void publications.publish(one, inSeconds(300))
    return events
  }

  it('gets nothing for a while, then one event at a time, and all of it in the end', async () => {
    const events = publishAll(5)
    for (const one of events) refuse(one.id, 'rate-limited')
    void publications.publish(event(), inSeconds(300))
    sent.length = 0
    await clock.advance(999)
    expect(sent).toEqual([])
    await clock.advance(1)
    const order: string[] = []
    while (publications.count() > 0) {
      expect(sent).toHaveLength(order.length + 1)
      const newest = sent.at(-1) ?? ''
      order.push(newest)
      accept(newest)
    }
    expect(new Set(order).size).toBe(6)
  })

  it('that goes on refusing is asked more and more seldom', async () => {
    const [one] = publishAll(20)
    refuse(one?.id ?? '', 'rate-limited')
    sent.length = 0
    const at: number[] = []
    const from = clock.nowMs()
    for (let second = 0; second < 280; second += 1) {
      await clock.advance(1_000)
      const before = at.length
      while (at.length < sent.length) at.push((clock.nowMs() - from) / 1000)
      for (const id of sent.slice(before)) refuse(id, 'rate-limited')
    }
    expect(at).toEqual([1, 3, 7, 15, 31, 63, 123, 183, 243])
  })

  it('takes what it refused before what came later, however much comes', async () => {
    const [refused] = publishAll(1)
    await clock.advance(1)
    refuse(refused?.id ?? '', 'rate-limited')
    sent.length = 0
    for (let come = 0; come < 10; come += 1) {
      publishAll(1)
      await clock.advance(100)
    }
    expect(sent).toEqual([refused?.id])
  })

  it('and answers one with nothing is asked for the next', async () => {
    const [one, two] = publishAll(2)
    refuse(one?.id ?? '', 'rate-limited')
    sent.length = 0
    await clock.advance(1_000)
    await clock.advance(10_000)
    expect(new Set(sent)).toEqual(new Set([one?.id, two?.id]))
  })

  it('and keeps up again gets everything at once again', async () => {
    const [one] = publishAll(1)
    refuse(one?.id ?? '', 'rate-limited')
    await clock.advance(1_000)
    accept(one?.id ?? '')
    sent.length = 0
    publishAll(5)
    expect(sent).toHaveLength(5)
  })
})
