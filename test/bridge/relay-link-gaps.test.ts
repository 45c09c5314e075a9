import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRelayLink, type RelayLink } from '../../src/bridge/relay-link.ts'
import { verifyEvent } from '../../src/protocol/signer.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { artifact } from '../support/artifact.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type FakeConnection, type FakeSockets, fakeSockets } from '../support/fake-relay-sockets.ts'
import { asks, deliver, host, phone, toHost } from './link-stage.ts'

const extra = { kinds: [3188], '#h': ['a'.repeat(64)] }
let clock: FakeClock
let sockets: FakeSockets
let heard: string[]
let link: RelayLink

beforeEach(() => {
  clock = fakeClock()
  sockets = fakeSockets()
  heard = []
})
afterEach(() => link.close())

function open(lifetimeSeconds?: number): void {
  link = createRelayLink({
    url: 'wss://relay.example.net/',
    signer: host.signer,
    clock,
    random: systemRandom,
    dial: sockets.dial,
    verify: verifyEvent,
    onEvent: (event) => void heard.push(event.id),
    afterGap: () => [extra],
    ...(lifetimeSeconds === undefined ? {} : { lifetimeSeconds }),
  })
}

/** Opens without a challenge; the subscription is asked for. */
async function openPlainly(connection: FakeConnection): Promise<void> {
  connection.open()
  await clock.advance(300)
}
const usual = () => ({ kinds: [3188], '#p': [host.publicKey], since: nowSeconds(clock) - 60 })
const asked = () => asks(sockets.last()).map((frame) => frame.slice(2))

describe('a gap', () => {
  beforeEach(() => open())

  it('is what comes before the first subscription, and none is what comes before a renewal', async () => {
    await openPlainly(sockets.last())
    expect(asked()).toEqual([[usual(), extra]])
    sockets.last().say('EOSE', sockets.last().subscription())
    await clock.advance(108_000)
    await openPlainly(sockets.last())
    expect([sockets.connections.length, asked()]).toEqual([2, [[usual()]]])
  })

  it('that is short asks for nothing more', async () => {
    sockets.last().goLive()
    sockets.last().cut()
    await clock.advance(1_000)
    await openPlainly(sockets.last())
    expect(asked()).toEqual([[usual()]])
  })

  it('longer than a subscription lives asks for what lives longer, once', async () => {
    sockets.last().goLive()
    sockets.last().cut()
    clock.jump(121_000)
    await clock.advance(1_000)
    await openPlainly(sockets.last())
    expect(asked()).toEqual([[usual(), extra]])
    sockets.last().say('EOSE', sockets.last().subscription())
    sockets.last().say('CLOSED', sockets.last().subscription(), 'error: again')
    await clock.advance(1_000)
    await openPlainly(sockets.last())
    expect([sockets.connections.length, asked()]).toEqual([3, [[usual()]]])
  })

  it('of a machine that slept behind a socket that nobody closed is one', async () => {
    sockets.last().goLive()
    sockets.last().mute = true
    clock.jump(3_600_000)
    await clock.advance(1_000)
    await openPlainly(sockets.last())
    expect([sockets.connections.length, asked()]).toEqual([2, [[usual(), extra]]])
  })
})

describe('a relay that takes the connection and goes mute', () => {
  it('is noticed within a minute, and what it stored meanwhile is heard once', async () => {
    open()
    const mute = sockets.last()
    mute.goLive()
    const early = toHost({ createdAt: nowSeconds(clock) })
    deliver(mute, early)
    mute.mute = true
    await clock.advance(1_000)
    const meanwhile = [toHost(), toHost()]
    const from = clock.nowMs()
    while (sockets.connections.length === 1) await clock.advance(100)
    expect(clock.nowMs() - from).toBeLessThanOrEqual(60_000)
    const next = sockets.last()
    await openPlainly(next)
    expect(asked()).toEqual([[usual()]])
    expect(early.created_at).toBeGreaterThanOrEqual(usual().since)
    for (const event of [early, ...meanwhile]) deliver(next, event)
    next.say('EOSE', next.subscription())
    expect(heard).toEqual([early, ...meanwhile].map(({ id }) => id))
  })
})

describe('ten thousand renewals', () => {
  it('never hold more than two of the twenty subscriptions that a relay allows, and lose nothing', async () => {
    open(1)
    await openPlainly(sockets.last())
    sockets.last().say('EOSE', sockets.last().subscription())
    let most = 0
    let sent = 0
    for (let round = 0; round < 10_000; round += 1) {
      const old = sockets.last()
      while (sockets.last() === old) await clock.advance(450)
      await openPlainly(sockets.last())
      const holding = sockets.connections.slice(-20).filter(({ closed }) => !closed)
      most = Math.max(most, holding.length)
      if (round % 1_000 === 0) {
        const event = artifact(phone, host.publicKey)
        for (const connection of holding) deliver(connection, event)
        sent += 1
      }
      sockets.last().say('EOSE', sockets.last().subscription())
    }
    expect([sockets.connections.length, most, heard.length]).toEqual([10_001, 2, sent])
    expect(sockets.connections.every((connection) => asks(connection).length === 1)).toBe(true)
    expect(sockets.connections.filter(({ closed }) => !closed)).toHaveLength(1)
  }, 60_000)
})

describe('a relay that lets in and cuts off', () => {
  it('is dialled at most so often in an hour, whenever it cuts', async () => {
    for (const afterMs of [0, 300, 5_000]) {
      sockets = fakeSockets()
      open()
      const until = clock.nowMs() + 3_600_000
      while (clock.nowMs() < until) {
        const connection = sockets.last()
        connection.goLive()
        await clock.advance(afterMs)
        connection.cut()
        const count = sockets.connections.length
        while (sockets.connections.length === count && clock.nowMs() < until) await clock.advance(1_000)
      }
      expect(sockets.connections.length).toBeLessThan(150)
      link.close()
    }
  })
})
