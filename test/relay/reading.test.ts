import { describe, expect, it } from 'vitest'
import { artifact } from '../support/artifact.ts'
import {
  clock,
  connect,
  connectAs,
  host,
  phone,
  relay,
  restartBehind,
  stranger,
  tablet,
} from './relay-stage.ts'

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
    ['a time 11 minutes ago', { offset: -660 }, /dated 66[01] seconds behind/],
    ['a time in 11 minutes', { offset: 660 }, /dated 6(59|60) seconds ahead/],
  ])('is refused for %s', async (_, { url, offset = 0 }: { url?: string; offset?: number }, words) => {
    const client = await connect()
    const [, , accepted, message] = await client.authenticate(
      host,
      url,
      Math.floor(clock.nowMs() / 1000) + offset,
    )
    expect([accepted, message]).toEqual([false, expect.stringMatching(words)])
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
    await restartBehind('wss://relay.example.net/')
    expect((await (await connect()).authenticate(host, 'wss://relay.example.net'))[2]).toBe(true)
  })
})
