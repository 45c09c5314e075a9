import { describe, expect, it } from 'vitest'
import { nowSeconds } from '../../src/seams/clock.ts'
import { artifact } from '../support/artifact.ts'
import { arrivals, clock, deliver, host, link, phone, published, sockets, toHost } from './link-stage.ts'

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

describe('a relay that never says that its stored events are through', () => {
  it('is live after twenty seconds if it serves the subscription, and takes what is published before', async () => {
    const connection = sockets.last()
    connection.open()
    await clock.advance(300)
    const event = toHost()
    deliver(connection, event)
    expect(arrivals).toMatchObject([{ id: event.id, stored: true }])
    const reply = artifact(host, phone.publicKey)
    const outcome = link.publish(reply, nowSeconds(clock) + 60)
    expect(published(connection)).toEqual([reply.id])
    connection.say('OK', reply.id, true, '')
    expect(await outcome).toEqual({ outcome: 'accepted', duplicate: false })
    expect(link.state().state).toBe('connecting')
    await clock.advance(20_000)
    expect([link.state().state, connection.closed, sockets.connections.length]).toEqual(['live', false, 1])
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
