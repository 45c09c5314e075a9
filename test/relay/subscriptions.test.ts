import { describe, expect, it } from 'vitest'
import { relayFiltersMax, relaySubscriptionsMax } from '../../src/limits.ts'
import { artifact } from '../support/artifact.ts'
import { connect, connectAs, host, phone, relay, tablet } from './relay-stage.ts'

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
