import { describe, expect, it } from 'vitest'
import { nowSeconds } from '../../src/seams/clock.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { arrivals, asks, clock, deliver, host, link, sockets, toHost } from './link-stage.ts'

describe('ready', () => {
  it('comes with the first live subscription', async () => {
    let ready = false
    void link.ready.then(() => {
      ready = true
    })
    await clock.advance(1_000)
    expect([ready, link.state().state]).toEqual([false, 'connecting'])
    sockets.last().goLive()
    await clock.advance(0)
    expect([ready, link.state().state]).toEqual([true, 'live'])
  })

  it('comes after ten seconds without one', async () => {
    let ready = false
    void link.ready.then(() => {
      ready = true
    })
    await clock.advance(9_999)
    expect(ready).toBe(false)
    await clock.advance(1)
    expect(ready).toBe(true)
  })
})

describe('what is asked for', () => {
  it('is what was sent to the host since sixty seconds ago by its own clock', () => {
    sockets.last().goLive()
    expect(asks(sockets.last())).toEqual([
      ['REQ', expect.any(String), { kinds: [3188], '#p': [host.publicKey], since: nowSeconds(clock) - 60 }],
    ])
  })

  it.each([
    ['from a device', 63_072_000, true],
    ['badly signed', 63_072_000, false],
    ['dated at the beginning of time', -nowSeconds(fakeClock()), true],
  ])('is never moved by an event %s with another date', async (_, offset, genuine) => {
    sockets.last().goLive()
    const event = toHost({ createdAt: nowSeconds(clock) + offset })
    deliver(sockets.last(), genuine ? event : { ...event, sig: '0'.repeat(128) })
    sockets.last().cut()
    await clock.advance(60_000)
    sockets.last().goLive()
    expect(asks(sockets.last())).toEqual([
      ['REQ', expect.any(String), { kinds: [3188], '#p': [host.publicKey], since: nowSeconds(clock) - 60 }],
    ])
  })

  it('is one subscription a connection, over a thousand renewals', async () => {
    sockets.last().goLive()
    for (let round = 0; round < 1_000; round += 1) {
      await clock.advance(108_000)
      sockets.last().goLive()
    }
    expect(sockets.connections).toHaveLength(1_001)
    expect(sockets.connections.every((connection) => asks(connection).length === 1)).toBe(true)
    expect(sockets.connections.filter((connection) => !connection.closed)).toHaveLength(1)
  })
})

describe('deduplication', () => {
  it('is by ID: two events of one second both arrive', () => {
    sockets.last().goLive()
    const [one, two] = [toHost({ createdAt: 5 }), toHost({ createdAt: 5 })]
    deliver(sockets.last(), one)
    deliver(sockets.last(), two)
    expect(arrivals.map(({ id }) => id)).toEqual([one.id, two.id])
  })

  it('is after verifying: a forgery under its ID never hides the genuine event', () => {
    sockets.last().goLive()
    const event = toHost()
    deliver(sockets.last(), { ...event, content: 'forged' })
    expect(arrivals).toEqual([])
    deliver(sockets.last(), event)
    expect(arrivals.map(({ id }) => id)).toEqual([event.id])
  })

  it('tells history from what is live, and asked-again from both', async () => {
    const event = toHost()
    sockets.last().open()
    await clock.advance(300)
    deliver(sockets.last(), event)
    deliver(sockets.last(), event)
    sockets.last().say('EOSE', sockets.last().subscription())
    deliver(sockets.last(), event)
    expect(arrivals.map(({ stored, again }) => ({ stored, again }))).toEqual([
      { stored: true, again: false },
      { stored: false, again: true },
    ])
    sockets.last().cut()
    await clock.advance(60_000)
    const second = sockets.last()
    second.open()
    await clock.advance(300)
    deliver(second, event)
    second.say('EOSE', second.subscription())
    expect(arrivals).toHaveLength(2)
    deliver(second, event)
    expect(arrivals.at(-1)).toMatchObject({ stored: false, again: true })
  })
})

describe('renewal', () => {
  it('has the next connection live before the old one goes, and what both deliver arrives once', async () => {
    const old = sockets.last()
    old.goLive()
    await clock.advance(107_999)
    expect(sockets.connections).toHaveLength(1)
    await clock.advance(1)
    const next = sockets.last()
    expect(next).not.toBe(old)
    next.open()
    await clock.advance(300)
    const [during, overlap] = [toHost(), toHost()]
    deliver(old, during)
    deliver(next, during)
    deliver(next, overlap)
    deliver(old, overlap)
    expect(old.closed).toBe(false)
    expect(link.state().state).toBe('live')
    next.say('EOSE', next.subscription())
    expect(old.closed).toBe(true)
    expect(arrivals.map(({ id, again }) => [id, again])).toEqual([
      [during.id, false],
      [overlap.id, false],
    ])
    expect(link.state()).toMatchObject({ state: 'live', reconnects: 0 })
  })

  it('that fails leaves the old connection in service and is tried again', async () => {
    const old = sockets.last()
    old.goLive()
    await clock.advance(108_000)
    sockets.last().cut('refused')
    expect([old.closed, link.state().state]).toEqual([false, 'live'])
    await clock.advance(1_000)
    expect(sockets.connections).toHaveLength(3)
    sockets.last().goLive()
    expect(old.closed).toBe(true)
  })

  it('goes on when the old connection dies under it', async () => {
    sockets.last().goLive()
    await clock.advance(108_000)
    const [old, next] = sockets.connections
    old?.cut()
    expect(link.state().state).toBe('waiting')
    next?.goLive()
    expect(link.state().state).toBe('live')
    await clock.advance(5_000)
    expect(sockets.connections).toHaveLength(2)
  })
})
