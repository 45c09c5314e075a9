import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { relayEventSeconds, relayFiltersMax, relaySubscriptionsMax } from '../../src/limits.ts'
import { type Relay, startRelay } from '../../src/relay/listen.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { artifact } from '../support/artifact.ts'
import { testKey } from '../support/keys.ts'
import { movableClock } from '../support/movable-clock.ts'
import { type RawClient, rawClient } from '../support/raw-relay-client.ts'

const host = testKey(11)
const phone = testKey(13)
const tablet = testKey(14)
const stranger = testKey(15)

let relay: Relay
let clients: RawClient[]
let served: readonly string[] | null
const clock = movableClock()

beforeEach(async () => {
  clients = []
  served = [host.publicKey]
  clock.reset()
  relay = await startRelay({ clock, random: systemRandom, host: '127.0.0.1', port: 0, serves: () => served })
})

afterEach(async () => {
  for (const client of clients) client.close()
  await relay.close()
})

async function connect(): Promise<RawClient> {
  const client = await rawClient(relay.url)
  clients.push(client)
  return client
}

async function connectAs(key: typeof host): Promise<RawClient> {
  const client = await connect()
  expect(await client.authenticate(key)).toMatchObject(['OK', expect.anything(), true, ''])
  return client
}

describe('who may read a private artifact', () => {
  it('is its author and its recipient, in stored queries', async () => {
    const sender = await connect()
    const event = artifact(phone, host.publicKey)
    expect(await sender.publish(event)).toEqual(['OK', event.id, true, ''])
    for (const key of [host, phone]) {
      const reader = await connectAs(key)
      const { events, end } = await reader.query('q', { kinds: [3188] })
      expect(events).toEqual([event])
      expect(end).toEqual(['EOSE', 'q'])
    }
    for (const key of [stranger, tablet]) {
      const reader = await connectAs(key)
      expect((await reader.query('q', { ids: [event.id] })).events).toEqual([])
      expect((await reader.query('r', { '#p': [host.publicKey] })).events).toEqual([])
      expect((await reader.query('s', { authors: [phone.publicKey] })).events).toEqual([])
    }
  })

  it('is nobody else in live fan-out either', async () => {
    const listeners = await Promise.all([host, phone, stranger, tablet].map(connectAs))
    for (const listener of listeners)
      expect((await listener.query('live', { kinds: [3188] })).events).toEqual([])
    const event = artifact(phone, host.publicKey)
    const [hostClient, phoneClient, ...others] = listeners
    await (await connect()).publish(event)
    expect(await hostClient?.next('EVENT', 'live')).toEqual(['EVENT', 'live', event])
    expect(await phoneClient?.next('EVENT', 'live')).toEqual(['EVENT', 'live', event])
    for (const other of others) {
      // A later answer on the same connection proves that nothing was on its way.
      await other.query('after', { kinds: [3188] })
      expect(other.frames.filter((frame) => frame[0] === 'EVENT')).toEqual([])
    }
  })

  it('is nobody else in counts', async () => {
    await (await connect()).publish(artifact(phone, host.publicKey))
    for (const [key, count] of [
      [host, 1],
      [phone, 1],
      [stranger, 0],
    ] as const) {
      const client = await connectAs(key)
      client.send('COUNT', 'c', { kinds: [3188] })
      expect(await client.next('COUNT', 'c')).toEqual(['COUNT', 'c', { count }])
    }
  })

  it('is every key that a connection has authenticated as', async () => {
    const [toPhone, toTablet] = [artifact(host, phone.publicKey), artifact(host, tablet.publicKey)]
    const sender = await connect()
    await sender.publish(toPhone)
    await sender.publish(toTablet)
    const client = await connectAs(phone)
    expect((await client.query('one', {})).events).toEqual([toPhone])
    await client.authenticate(tablet)
    const both = (await client.query('two', {})).events
    expect(both).toHaveLength(2)
    const later = artifact(host, tablet.publicKey)
    await sender.publish(later)
    expect(await client.next('EVENT', 'two')).toContainEqual(later)
  })
})

describe('authentication', () => {
  it('is asked for before anything is read, and the challenge comes again with the refusal', async () => {
    const client = await connect()
    const [, challenge] = await client.next('AUTH')
    const { events, end } = await client.query('q', { kinds: [3188] })
    expect(events).toEqual([])
    expect(end[2]).toMatch(/^auth-required: /)
    expect(await client.next('AUTH')).toEqual(['AUTH', challenge])
    client.send('COUNT', 'c', { kinds: [3188] })
    expect((await client.next('CLOSED', 'c'))[2]).toMatch(/^auth-required: /)
    await client.authenticate(host)
    expect((await client.query('q', { kinds: [3188] })).end).toEqual(['EOSE', 'q'])
  })

  it('is not asked of who asks for kinds that are never kept here', async () => {
    expect((await (await connect()).query('q', { kinds: [0, 1] })).end).toEqual(['EOSE', 'q'])
  })

  it.each([
    ['another relay', { url: 'wss://elsewhere.example/' }, 'another relay is named'],
    ['another port', { url: 'ws://127.0.0.1:1/' }, 'another relay is named'],
    ['a time 11 minutes ago', { offset: -660 }, 'dated 660 seconds behind'],
    ['a time in 11 minutes', { offset: 660 }, 'dated 660 seconds ahead'],
  ])('is refused for %s', async (_, { url, offset = 0 }: { url?: string; offset?: number }, words) => {
    const client = await connect()
    const [, , accepted, message] = await client.authenticate(
      host,
      url,
      Math.floor(clock.nowMs() / 1000) + offset,
    )
    expect([accepted, message]).toEqual([false, expect.stringContaining(words)])
    expect((await client.query('q', {})).end[0]).toBe('CLOSED')
  })

  it('is refused for the challenge of another connection, and for a bad signature', async () => {
    const [one, two] = [await connect(), await connect()]
    const [, challenge] = await one.next('AUTH')
    const signed = host.signer.sign({
      kind: 22_242,
      created_at: Math.floor(clock.nowMs() / 1000),
      tags: [
        ['relay', relay.url],
        ['challenge', String(challenge)],
      ],
      content: '',
    })
    two.send('AUTH', signed)
    expect((await two.next('OK'))[3]).toContain('challenge')
    one.send('AUTH', { ...signed, sig: '0'.repeat(128) })
    expect((await one.next('OK'))[3]).toContain('signature')
    one.send('AUTH', signed)
    expect((await one.next('OK'))[2]).toBe(true)
  })

  it('accepts the URL that a proxy shows, when it is told', async () => {
    await relay.close()
    relay = await startRelay({
      clock,
      random: systemRandom,
      host: '127.0.0.1',
      port: 0,
      serves: () => served,
      urls: () => ['wss://relay.example.net/'],
    })
    expect((await (await connect()).authenticate(host, 'wss://relay.example.net'))[2]).toBe(true)
  })
})

describe('what is kept', () => {
  it('is an event from or to a served host, and nothing else', async () => {
    const client = await connect()
    expect((await client.publish(artifact(host, phone.publicKey)))[2]).toBe(true)
    expect((await client.publish(artifact(phone, host.publicKey)))[2]).toBe(true)
    expect((await client.publish(artifact(phone, tablet.publicKey)))[3]).toMatch(/^blocked: /)
    const note = phone.signer.sign({ kind: 1, created_at: 1, tags: [['p', host.publicKey]], content: 'x' })
    expect((await client.publish(note))[3]).toMatch(/^blocked: /)
    served = [tablet.publicKey]
    expect((await client.publish(artifact(phone, tablet.publicKey)))[2]).toBe(true)
    served = null
    expect((await client.publish(artifact(phone, stranger.publicKey)))[2]).toBe(true)
  })

  it('is only what is truly signed, and a forgery never blocks the genuine event', async () => {
    const client = await connect()
    const event = artifact(phone, host.publicKey)
    expect((await client.publish({ ...event, content: 'other' }))[3]).toMatch(/^invalid: /)
    expect(await client.publish(event)).toEqual(['OK', event.id, true, ''])
    expect((await client.publish(event)).slice(2)).toEqual([true, expect.stringMatching(/^duplicate: /)])
  })

  it('has exactly one recipient', async () => {
    const client = await connect()
    const tags = [
      ['p', host.publicKey],
      ['p', stranger.publicKey],
    ]
    const event = phone.signer.sign({ kind: 3188, created_at: 1, tags, content: 'x' })
    expect((await client.publish(event))[3]).toMatch(/^invalid: /)
  })

  it('is dropped eight days after it arrived, whatever it says of its own date', async () => {
    const client = await connect()
    const old = artifact(phone, host.publicKey, { createdAt: 1 })
    const future = artifact(phone, host.publicKey, { createdAt: 4_000_000_000 })
    await client.publish(old)
    await client.publish(future)
    clock.advance((relayEventSeconds - 1) * 1000)
    const now = () => Math.floor(clock.nowMs() / 1000)
    const reader = await connect()
    await reader.authenticate(host, relay.url, now())
    expect((await reader.query('a', {})).events).toEqual([future, old])
    clock.advance(1_000)
    expect((await reader.query('b', {})).events).toEqual([])
    expect(relay.statistics()).toMatchObject({ events: 0, bytes: 0 })
  })
})

describe('a subscription', () => {
  it('gets every event exactly once while others publish as it opens', async () => {
    const reader = await connectAs(host)
    const senders = await Promise.all([connect(), connect()])
    const events = Array.from({ length: 120 }, () => artifact(phone, host.publicKey))
    for (const [index, event] of events.entries()) {
      senders[index % 2]?.send('EVENT', event)
      if (index % 10 === 5) reader.send('REQ', `q${index}`, { kinds: [3188] })
    }
    await Promise.all(events.map((event, index) => senders[index % 2]?.next('OK', event.id)))
    for (const index of [5, 15, 55, 115]) {
      await reader.next('EOSE', `q${index}`)
      const seen = () => reader.frames.filter((frame) => frame[0] === 'EVENT' && frame[1] === `q${index}`)
      while (seen().length < events.length) await reader.next('EVENT', `q${index}`)
      expect(new Set(seen().map((frame) => (frame[2] as { id: string }).id)).size).toBe(events.length)
      expect(seen()).toHaveLength(events.length)
    }
  })

  it('honours every condition of its filters, and limits newest first', async () => {
    const sender = await connect()
    const events = [3, 1, 2].map((createdAt) => artifact(phone, host.publicKey, { createdAt }))
    for (const event of events) await sender.publish(event)
    const [three, one, two] = events
    const reader = await connectAs(host)
    const ask = async (...filters: object[]) => (await reader.query('q', ...filters)).events
    expect(await ask({ limit: 2 })).toEqual([three, two])
    expect(await ask({ since: 2, until: 2 })).toEqual([two])
    expect(await ask({ '#h': [one?.tags[1]?.[1]] }, { since: 3 })).toEqual([three, one])
    expect(await ask({ authors: [host.publicKey] })).toEqual([])
    expect(await ask({ limit: 0 })).toEqual([])
    expect(await ask({ '#x': ['y'] })).toEqual([])
  })

  it('ends with CLOSE, and is replaced by another of its name', async () => {
    const reader = await connectAs(host)
    await reader.query('q', { authors: [tablet.publicKey] })
    await reader.query('q', { authors: [phone.publicKey] })
    const sender = await connect()
    const [first, second] = [artifact(phone, host.publicKey), artifact(phone, host.publicKey)]
    await sender.publish(first)
    expect(await reader.next('EVENT')).toEqual(['EVENT', 'q', first])
    reader.send('CLOSE', 'q')
    await reader.query('other', { kinds: [1] })
    await sender.publish(second)
    await reader.query('after', { kinds: [1] })
    expect(reader.frames.filter((frame) => frame[0] === 'EVENT')).toHaveLength(1)
  })

  it('is one of a bounded number, each with a bounded number of filters', async () => {
    const reader = await connectAs(host)
    const filters = Array.from({ length: relayFiltersMax + 1 }, () => ({ kinds: [1] }))
    expect((await reader.query('many', ...filters)).end[2]).toMatch(/^invalid: /)
    for (let index = 0; index < relaySubscriptionsMax; index += 1) {
      expect((await reader.query(`q${index}`, { kinds: [1] })).end[0]).toBe('EOSE')
    }
    expect((await reader.query('over', { kinds: [1] })).end[2]).toMatch(/^error: /)
    expect((await reader.query('q0', { kinds: [1] })).end[0]).toBe('EOSE')
    expect(relay.statistics().subscriptions).toBe(relaySubscriptionsMax)
  })
})

describe('a reader that does not read', () => {
  const large = () => artifact(phone, host.publicKey, { content: 'x'.repeat(400_000) })

  it('is let go once its unread live events pass the bound, and others are served on', async () => {
    const slow = await connectAs(host)
    await slow.query('live', {})
    const quick = await connectAs(host)
    await quick.query('live', {})
    slow.pauseReading()
    const sender = await connect()
    let dropped = false
    void slow.closed.then(() => {
      dropped = true
    })
    for (let sent = 0; sent < 100 && relay.statistics().connections === 3; sent += 1) {
      const event = large()
      await sender.publish(event)
      expect((await quick.next('EVENT', 'live'))[2]).toMatchObject({ id: event.id })
    }
    expect(relay.statistics().connections).toBe(2)
    slow.resumeReading()
    await slow.closed
    expect(dropped).toBe(true)
  })

  it('keeps its connection when it only asked for a long answer, and gets all of it', async () => {
    const sender = await connect()
    for (let sent = 0; sent < 40; sent += 1) await sender.publish(large())
    const reader = await connectAs(host)
    reader.pauseReading()
    reader.send('REQ', 'long', {})
    for (let round = 0; round < 20; round += 1) await sender.query('noop', { kinds: [1] })
    expect(relay.statistics().connections).toBe(2)
    reader.resumeReading()
    expect(await reader.next('EOSE', 'long')).toEqual(['EOSE', 'long'])
    expect(reader.frames.filter((frame) => frame[0] === 'EVENT')).toHaveLength(40)
  })
})

describe('bad input', () => {
  it.each([
    ['["EVENT",{"id":"'.concat('a'.repeat(64), '","kind":"3188"}]'), ['OK', 'a'.repeat(64), false]],
    ['["REQ","sub",{"kinds":"all"}]', ['CLOSED', 'sub']],
    ['["REQ","sub"]', ['CLOSED', 'sub']],
    ['{"not":"a frame"}', ['NOTICE']],
    ['nonsense', ['NOTICE']],
    ['["REQ","sub",{"kinds":[3188],"kinds":[1]}]', ['CLOSED', 'sub']],
  ])('%s is answered under its own name', async (text, start) => {
    const client = await connect()
    client.sendText(text)
    const frame = await client.next(String(start[0]))
    expect(frame.slice(0, start.length)).toEqual(start)
    expect(frame.at(-1)).toMatch(/^invalid: /)
  })
})

describe('over plain HTTP', () => {
  it('describes itself and its limits', async () => {
    const url = relay.url.replace('ws:', 'http:')
    const answer = await fetch(url, { headers: { Accept: 'application/nostr+json' } })
    expect(answer.headers.get('content-type')).toBe('application/nostr+json')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(await answer.json()).toMatchObject({
      supported_nips: [1, 11, 42, 45],
      limitation: { max_subscriptions: relaySubscriptionsMax, auth_required: true },
      retention: [{ kinds: [3188], time: relayEventSeconds }, { time: 0 }],
    })
    expect((await fetch(url, { method: 'POST' })).status).toBe(405)
    expect(await (await fetch(url)).text()).toContain('relay')
  })
})

it('refuses io when its address is taken', async () => {
  const taken = { clock, random: systemRandom, host: '127.0.0.1', port: relay.port, serves: () => null }
  await expect(startRelay(taken)).rejects.toMatchObject({ code: 'io' })
})
