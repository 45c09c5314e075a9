import { describe, expect, it } from 'vitest'
import { relayEventSeconds, relaySubscriptionsMax } from '../../src/limits.ts'
import { startRelay } from '../../src/relay/listen.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { artifact } from '../support/artifact.ts'
import { clock, connect, host, phone, relay, serve, stranger, tablet } from './relay-stage.ts'

describe('what is kept', () => {
  it('is an event from or to a served host, and nothing else', async () => {
    const client = await connect()
    expect((await client.publish(artifact(host, phone.publicKey)))[2]).toBe(true)
    expect((await client.publish(artifact(phone, host.publicKey)))[2]).toBe(true)
    expect((await client.publish(artifact(phone, tablet.publicKey)))[3]).toMatch(/^blocked: /)
    const note = phone.signer.sign({ kind: 1, created_at: 1, tags: [['p', host.publicKey]], content: 'x' })
    expect((await client.publish(note))[3]).toMatch(/^blocked: /)
    serve([tablet.publicKey])
    expect((await client.publish(artifact(phone, tablet.publicKey)))[2]).toBe(true)
    serve(null)
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
    clock.advance((relayEventSeconds - 60) * 1000)
    const now = () => Math.floor(clock.nowMs() / 1000)
    const reader = await connect()
    await reader.authenticate(host, relay.url, now())
    expect((await reader.query('a', {})).events).toEqual([future, old])
    clock.advance(60_000)
    expect((await reader.query('b', {})).events).toEqual([])
    expect(relay.statistics()).toMatchObject({ events: 0, bytes: 0 })
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
