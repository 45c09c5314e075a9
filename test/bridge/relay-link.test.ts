import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Arrival, createRelayLink, type RelayLink } from '../../src/bridge/relay-link.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { verifyEvent } from '../../src/protocol/signer.ts'
import { type Relay, startRelay } from '../../src/relay/listen.ts'
import { nowSeconds, systemClock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { artifact } from '../support/artifact.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type FakeConnection, type FakeSockets, fakeSockets } from '../support/fake-relay-sockets.ts'
import { testKey } from '../support/keys.ts'
import { rawClient } from '../support/raw-relay-client.ts'

const host = testKey(11)
const phone = testKey(13)
const url = 'wss://relay.example.net/'

let clock: FakeClock
let sockets: FakeSockets
let link: RelayLink
let arrivals: (Arrival & { id: string })[]

beforeEach(() => {
  clock = fakeClock()
  sockets = fakeSockets()
  arrivals = []
  let draws = 0
  link = createRelayLink({
    url,
    signer: host.signer,
    clock,
    random: {
      bytes(count) {
        draws += 1
        return new Uint8Array(count).fill(draws % 251)
      },
    },
    dial: sockets.dial,
    verify: verifyEvent,
    onEvent: (event, arrival) => void arrivals.push({ ...arrival, id: event.id }),
  })
})

afterEach(() => link.close())

const toHost = (changes: Parameters<typeof artifact>[2] = {}): NostrEvent =>
  artifact(phone, host.publicKey, changes)
const deliver = (connection: FakeConnection, event: NostrEvent): void =>
  connection.say('EVENT', connection.subscription(), event)
const asks = (connection: FakeConnection): unknown[][] =>
  connection.sent.filter((frame) => frame[0] === 'REQ')
const published = (connection: FakeConnection): unknown[] =>
  connection.sent.filter((frame) => frame[0] === 'EVENT').map((frame) => (frame[1] as NostrEvent).id)

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

describe('a dead peer', () => {
  it('that went mute behind an open socket is noticed within sixty seconds and dialled again', async () => {
    sockets.last().goLive()
    await clock.advance(5_000)
    const mute = sockets.last()
    mute.say('NOTICE', 'the last word')
    mute.mute = true
    await clock.advance(44_999)
    expect([mute.closed, mute.pings]).toEqual([false, 2])
    await clock.advance(1)
    expect(mute.closed).toBe(true)
    expect(link.state()).toMatchObject({ state: 'waiting', last_error: 'the relay went silent' })
    await clock.advance(1_000)
    expect(sockets.connections).toHaveLength(2)
  })

  it('is not one that answers pings and says nothing else', async () => {
    sockets.last().goLive()
    await clock.advance(100_000)
    expect(sockets.connections).toHaveLength(1)
  })

  it('is one that opens and never makes a subscription live', async () => {
    sockets.last().open()
    await clock.advance(19_999)
    expect(sockets.connections[0]?.closed).toBe(false)
    await clock.advance(1)
    expect(sockets.connections[0]?.closed).toBe(true)
    expect(link.state().last_error).toBe('no live subscription in time')
  })
})

describe('reconnection', () => {
  it('waits longer with each failure, jittered, between half a second and a minute', async () => {
    const waits: number[] = []
    for (let failure = 0; failure < 12; failure += 1) {
      const count = sockets.connections.length
      sockets.last().cut()
      const from = clock.nowMs()
      while (sockets.connections.length === count) await clock.advance(50)
      waits.push(clock.nowMs() - from)
    }
    for (const [index, wait] of waits.entries()) {
      const whole = Math.min(60_000, 500 * 2 ** index)
      expect(wait).toBeGreaterThanOrEqual(Math.max(500, whole / 2))
      expect(wait).toBeLessThanOrEqual(whole + 50)
    }
  })

  it('is slow after a relay that asks for less', async () => {
    sockets.last().goLive()
    sockets.last().say('CLOSED', sockets.last().subscription(), 'rate-limited: less')
    expect(link.state().last_error).toBe('rate-limited: rate-limited: less')
    await clock.advance(3_900)
    expect(sockets.connections).toHaveLength(1)
    await clock.advance(4_200)
    expect(sockets.connections).toHaveLength(2)
  })

  it('does not hurry back to a relay that cuts every connection as soon as it is live', async () => {
    for (let round = 0; round < 6; round += 1) {
      sockets.last().goLive()
      sockets.last().cut()
      if (round < 5) await clock.advance(16_000)
    }
    const count = sockets.connections.length
    await clock.advance(7_000)
    expect(sockets.connections).toHaveLength(count)
  })

  it('ends with close', async () => {
    sockets.last().goLive()
    link.close()
    expect(sockets.last().closed).toBe(true)
    await clock.advance(600_000)
    expect(sockets.connections).toHaveLength(1)
    expect(link.state().state).toBe('closed')
    expect(clock.pending()).toBe(0)
  })
})

describe('publishing', () => {
  const reply = artifact(host, phone.publicKey)

  it('waits for a live connection and ends with its OK', async () => {
    const outcome = link.publish(reply, nowSeconds(clock) + 60)
    sockets.last().goLive()
    expect(published(sockets.last())).toEqual([reply.id])
    sockets.last().say('OK', reply.id, true, '')
    expect(await outcome).toEqual({ outcome: 'accepted', duplicate: false })
    expect(link.state().unpublished).toBe(0)
    await clock.advance(30_000)
    expect(published(sockets.last())).toEqual([reply.id])
  })

  it('is repeated while the relay is silent and the event fresh, also over a new connection', async () => {
    sockets.last().goLive()
    const outcome = link.publish(reply, nowSeconds(clock) + 60)
    await clock.advance(10_000)
    expect(published(sockets.last())).toEqual([reply.id, reply.id])
    sockets.last().cut()
    await clock.advance(1_000)
    sockets.last().goLive()
    expect(published(sockets.last())).toEqual([reply.id])
    sockets.last().say('OK', reply.id, false, 'duplicate: have it')
    expect(await outcome).toEqual({ outcome: 'accepted', duplicate: true })
  })

  it('ends unknown, not refused, when nothing was ever said', async () => {
    sockets.last().goLive()
    const outcome = link.publish(reply, nowSeconds(clock) + 25)
    await clock.advance(25_000)
    expect(await outcome).toEqual({ outcome: 'unknown' })
    expect(published(sockets.last())).toHaveLength(3)
    expect(await link.publish(reply, nowSeconds(clock))).toEqual({ outcome: 'unknown' })
  })

  it('is tried again after a refusal that may pass, and ends with one that does not', async () => {
    sockets.last().goLive()
    const outcome = link.publish(reply, nowSeconds(clock) + 60)
    sockets.last().say('OK', reply.id, false, 'rate-limited: wait')
    await clock.advance(10_000)
    expect(published(sockets.last())).toHaveLength(2)
    sockets.last().say('OK', reply.id, false, 'blocked: never')
    expect(await outcome).toEqual({ outcome: 'refused', prefix: 'blocked', message: 'blocked: never' })
  })

  it('of one event twice is one publication', async () => {
    sockets.last().goLive()
    const outcomes = [1, 2].map(() => link.publish(reply, nowSeconds(clock) + 60))
    expect(published(sockets.last())).toHaveLength(1)
    sockets.last().say('OK', reply.id, true, '')
    expect(await Promise.all(outcomes)).toHaveLength(2)
  })

  it('that waits at close ends unknown', async () => {
    const outcome = link.publish(reply, nowSeconds(clock) + 60)
    link.close()
    expect(await outcome).toEqual({ outcome: 'unknown' })
  })
})

describe('over real sockets', () => {
  it('is back after the relay was away, and has what was stored meanwhile, once', async () => {
    const start = (port: number): Promise<Relay> =>
      startRelay({ clock: systemClock, random: systemRandom, host: '127.0.0.1', port, serves: () => null })
    let relay = await start(0)
    const heard: string[] = []
    const real = createRelayLink({
      url: relay.url,
      signer: host.signer,
      clock: systemClock,
      random: systemRandom,
      dial: dialRelay,
      verify: verifyEvent,
      onEvent: (event) => void heard.push(event.id),
    })
    try {
      await real.ready
      expect(real.state().state).toBe('live')
      const before = toHost()
      const first = await rawClient(relay.url)
      await first.publish(before)
      await expect.poll(() => heard).toEqual([before.id])
      await relay.close()
      await expect.poll(() => real.state().state).toBe('waiting')
      relay = await start(relay.port)
      const second = await rawClient(relay.url)
      const meanwhile = [toHost(), toHost(), before]
      for (const event of meanwhile) await second.publish(event)
      await expect.poll(() => real.state().state, { timeout: 5_000 }).toBe('live')
      expect(new Set(heard)).toEqual(new Set(meanwhile.map(({ id }) => id)))
      expect(heard).toHaveLength(3)
      expect(await real.publish(artifact(host, phone.publicKey), nowSeconds(systemClock) + 60)).toEqual({
        outcome: 'accepted',
        duplicate: false,
      })
      second.close()
    } finally {
      real.close()
      await relay.close()
    }
  })

  it('renews without losing or doubling anything that arrives meanwhile', async () => {
    const relay = await startRelay({
      clock: systemClock,
      random: systemRandom,
      host: '127.0.0.1',
      port: 0,
      serves: () => [host.publicKey],
    })
    const heard: string[] = []
    const real = createRelayLink({
      url: relay.url,
      signer: host.signer,
      clock: systemClock,
      random: systemRandom,
      dial: dialRelay,
      verify: verifyEvent,
      onEvent: (event) => void heard.push(event.id),
      lifetimeSeconds: 0.1,
    })
    try {
      await real.ready
      const sender = await rawClient(relay.url)
      const sent = Array.from({ length: 150 }, () => toHost())
      for (const event of sent) await sender.publish(event)
      await expect.poll(() => heard.length, { timeout: 5_000 }).toBe(sent.length)
      await sender.query('later', { kinds: [1] })
      expect(heard.sort()).toEqual(sent.map(({ id }) => id).sort())
      expect(real.state().reconnects).toBe(0)
      expect(relay.statistics().subscriptions).toBeLessThanOrEqual(2)
      sender.close()
    } finally {
      real.close()
      await relay.close()
    }
  })
})
