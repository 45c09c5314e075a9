import { describe, expect, it } from 'vitest'
import { createRelayStore } from '../../src/relay/store.ts'
import { artifact } from '../support/artifact.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { testKey } from '../support/keys.ts'

const host = testKey(11)
const phone = testKey(13)
const anybody = () => null

describe('the relay store', () => {
  it('stays within its bytes by dropping what arrived first, not what is dated first', () => {
    const events = [9, 1, 5].map((createdAt) =>
      artifact(phone, host.publicKey, { createdAt, content: 'x'.repeat(800) }),
    )
    const bytes = events.map((event) => Buffer.byteLength(JSON.stringify(event)))
    const store = createRelayStore(fakeClock(), anybody, (bytes[1] ?? 0) + (bytes[2] ?? 0))
    for (const event of events) store.add(event)
    const [first, second, third] = events.map((event) => store.has(event.id))
    expect([first, second, third]).toEqual([false, true, true])
    expect(store.size()).toEqual({ events: 2, bytes: (bytes[1] ?? 0) + (bytes[2] ?? 0) })
    expect(store.query([{}], new Set([host.publicKey]), 10).map((stored) => JSON.parse(stored.text))).toEqual(
      [events[2], events[1]],
    )
  })

  it('keeps what a host wrote through a flood of what others write to it', () => {
    const kept = artifact(host, phone.publicKey, { content: 'x'.repeat(800) })
    const bytesMax = 4 * Buffer.byteLength(JSON.stringify(kept))
    const store = createRelayStore(fakeClock(), () => [host.publicKey], bytesMax)
    store.add(kept)
    const flood = Array.from({ length: 20 }, (_, index) =>
      artifact(testKey(30 + index), host.publicKey, { content: 'x'.repeat(800) }),
    )
    for (const event of flood) store.add(event)
    expect(store.has(kept.id)).toBe(true)
    expect(flood.filter((event) => store.has(event.id))).toEqual(flood.slice(-2))
    expect(store.size().bytes).toBeLessThanOrEqual((bytesMax * 3) / 4)
  })

  it('orders equal times by ID and gives an event that several filters match once', () => {
    const store = createRelayStore(fakeClock(), anybody)
    const events = Array.from({ length: 5 }, () => artifact(phone, host.publicKey, { createdAt: 7 }))
    for (const event of events) store.add(event)
    const ids = store.query([{ limit: 3 }, { kinds: [3188] }], new Set([phone.publicKey]), 10)
    expect(ids.map((stored) => stored.event.id)).toEqual(events.map((event) => event.id).sort())
  })

  it('shows nothing to no key at all', () => {
    const store = createRelayStore(fakeClock(), anybody)
    store.add(artifact(phone, host.publicKey))
    expect(store.query([{}], new Set(), 10)).toEqual([])
  })
})
