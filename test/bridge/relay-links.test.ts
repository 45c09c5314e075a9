import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Counters, createCounters } from '../../src/bridge/counters.ts'
import { silentLog } from '../../src/bridge/log.ts'
import { createRelayLinks, type RelayLinks } from '../../src/bridge/relay-links.ts'
import { verifyEvent } from '../../src/protocol/signer.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { artifact } from '../support/artifact.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type FakeConnection, type FakeSockets, fakeSockets } from '../support/fake-relay-sockets.ts'
import { host, phone, toHost } from './link-stage.ts'

const [first, second, third] = ['wss://one.example/', 'wss://two.example/', 'wss://three.example/'] as const
const gone = 'wss://gone.example/'
let clock: FakeClock
let sockets: FakeSockets
let counters: Counters
let arrived: [relay: string, id: string][]
let links: RelayLinks

beforeEach(() => {
  clock = fakeClock()
  sockets = fakeSockets()
  counters = createCounters()
  arrived = []
  links = createRelayLinks(
    {
      signer: host.signer,
      clock,
      random: systemRandom,
      dial: sockets.dial,
      verify: verifyEvent,
      onEvent: (event, { relay }) => void arrived.push([relay, event.id]),
      information: async (url) => ({
        ok: true,
        text: url === second ? '{"limitation":{"max_message_length":9000}}' : '{}',
        dateMs: null,
      }),
    },
    counters,
    silentLog,
  )
})
afterEach(() => links.close())

const at = (url: string): FakeConnection => {
  const found = sockets.connections.filter((connection) => connection.url === url).at(-1)
  if (found === undefined) throw new Error(`nothing was dialled at ${url}`)
  return found
}
const reply = () => artifact(host, phone.publicKey)
const freshUntil = () => nowSeconds(clock) + 60

/** What a relay does with an event that is published there. */
type Manner = 'takes it' | 'is mute' | 'refuses it'
function treat(url: string, manner: Manner, id: string): void {
  if (manner === 'takes it') at(url).say('OK', id, true, '')
  if (manner === 'refuses it') at(url).say('OK', id, false, 'blocked: no')
}

describe('several relays', () => {
  it('are each live by themselves, the first one the primary', async () => {
    links.serve([first, second, third])
    at(second).goLive()
    at(first).open()
    expect(links.states().map(({ url, state }) => [url, state])).toEqual([
      [first, 'connecting'],
      [second, 'live'],
      [third, 'connecting'],
    ])
  })

  it('are ready when each is live or had its ten seconds', async () => {
    links.serve([first, second])
    let ready = false
    void links.ready().then(() => {
      ready = true
    })
    at(first).goLive()
    await clock.advance(9_999)
    expect(ready).toBe(false)
    await clock.advance(1)
    expect(ready).toBe(true)
  })

  it('hand the same event on once each, naming themselves', () => {
    links.serve([first, second])
    const event = toHost()
    for (const url of [first, second, first]) {
      if (at(url).sent.length === 0) at(url).goLive()
      at(url).say('EVENT', at(url).subscription(), event)
    }
    expect(arrived.slice(0, 2)).toEqual([
      [first, event.id],
      [second, event.id],
    ])
  })

  it('of which one is mute, one refuses and one dies delay no other', async () => {
    links.serve([first, second, third])
    for (const url of [first, second, third]) at(url).goLive()
    at(second).mute = true
    at(third).cut()
    const [toMute, toDead] = [
      links.publish(second, reply(), freshUntil()),
      links.publish(third, reply(), freshUntil()),
    ]
    const event = reply()
    const taken = links.publish(first, event, freshUntil())
    at(first).say('OK', event.id, true, '')
    expect(await taken).toEqual({ outcome: 'accepted', duplicate: false })
    await clock.advance(60_000)
    expect([await toMute, await toDead]).toEqual([{ outcome: 'unknown' }, { outcome: 'unknown' }])
    expect(counters.read()).toMatchObject({ published: 1, publish_failed: 2 })
    expect(links.states()[0]?.state).toBe('live')
  })

  it('that are no longer named are closed, and the others go on', () => {
    links.serve([first, second])
    for (const url of [first, second]) at(url).goLive()
    links.serve([third, second])
    expect([at(first).closed, at(second).closed]).toEqual([true, false])
    expect(links.urls()).toEqual([third, second])
  })

  it('have limits each of their own', async () => {
    links.serve([first, second])
    await clock.advance(0)
    expect([first, second, gone].map(links.eventBytesMax)).toEqual([49_152, 8_990, 49_152])
  })
})

describe('an event for a relay that is no longer served', () => {
  const manners: Manner[] = ['takes it', 'is mute', 'refuses it']
  const orders = manners.flatMap((one) =>
    manners
      .filter((other) => other !== one)
      .map((other) => [one, other, manners.find((left) => left !== one && left !== other) ?? one]),
  )

  it.each(orders)(
    'of three others where one %s, one %s and one %s is never taken for accepted',
    async (...order) => {
      links.serve([first, second, third])
      for (const url of links.urls()) at(url).goLive()
      const event = reply()
      const outcome = links.publish(gone, event, freshUntil())
      for (const [index, url] of links.urls().entries()) treat(url, order[index] ?? 'is mute', event.id)
      await clock.advance(60_000)
      expect(await outcome).toEqual({ outcome: 'unknown' })
    },
  )

  it('is accepted as soon as two of three took it', async () => {
    links.serve([first, second, third])
    for (const url of links.urls()) at(url).goLive()
    const event = reply()
    const outcome = links.publish(gone, event, freshUntil())
    for (const url of [first, third]) treat(url, 'takes it', event.id)
    expect(await outcome).toEqual({ outcome: 'accepted', duplicate: false })
  })

  it('with no relay at all is unknown, and counted as failed', async () => {
    expect(await links.publish(gone, reply(), freshUntil())).toEqual({ outcome: 'unknown' })
    expect(counters.read()).toEqual({ publish_failed: 1 })
  })
})
