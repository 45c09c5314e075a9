import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { probeRelay } from '../../src/bridge/relay-probe.ts'
import { noLimits } from '../../src/protocol/relay-limits.ts'
import { systemClock } from '../../src/seams/clock.ts'
import { askRelayInformation } from '../../src/seams/http-relay-information.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { testKey } from '../support/keys.ts'
import { type ScriptedRelay, scriptedRelay } from '../support/scripted-relay.ts'

const host = testKey(11)
let relay: ScriptedRelay
beforeEach(async () => {
  relay = await scriptedRelay()
})
afterEach(() => relay.close())

const look = (changes: object = {}) =>
  probeRelay({
    url: relay.url,
    signer: host.signer,
    clock: systemClock,
    random: systemRandom,
    dial: dialRelay,
    information: askRelayInformation,
    ...changes,
  })

describe('a look at a relay', () => {
  it('finds it live, knowing the host, with its limits and its clock', async () => {
    relay.information = (_, response) => {
      response.setHeader('Date', new Date(Date.now() + 90_000).toUTCString())
      response.end('{"limitation":{"max_message_length":16384}}')
    }
    const found = look()
    const connection = await relay.connection(0)
    connection.say('AUTH', 'who')
    await connection.takeAuth('who')
    await connection.serve()
    const { aheadSeconds, ...rest } = await found
    expect(rest).toEqual({
      url: relay.url,
      fault: null,
      auth: 'accepted',
      limits: { ...noLimits, max_message_length: 16_384 },
      undocumented: null,
    })
    expect(aheadSeconds).toBeGreaterThanOrEqual(88)
    expect(aheadSeconds).toBeLessThanOrEqual(92)
    await expect.poll(() => connection.isOver()).toBe(true)
    expect(connection.heard.map(([type]) => type)).toEqual(['AUTH', 'REQ'])
  })

  it('finds that it has no document and never asks who reads', async () => {
    const found = look()
    await (await relay.connection(0)).serve()
    expect(await found).toMatchObject({
      fault: null,
      auth: 'none',
      limits: noLimits,
      undocumented: 'HTTP 404',
      aheadSeconds: null,
    })
  })

  it('finds that its document does not read', async () => {
    relay.information = (_, response) => void response.end('<html>')
    const found = look()
    await (await relay.connection(0)).serve()
    expect(await found).toMatchObject({ undocumented: 'its document does not read', limits: noLimits })
  })

  it('finds that it refuses the host', async () => {
    const found = look()
    const connection = await relay.connection(0)
    connection.say('AUTH', 'who')
    await connection.takeAuth('who', false, 'restricted: members only')
    connection.say('CLOSED', (await connection.next('REQ'))[1], 'auth-required: members only')
    await connection.takeAuth('who', false, 'restricted: members only')
    expect(await found).toMatchObject({ fault: 'restricted: members only', auth: 'refused' })
  })

  it('finds that it is not there', async () => {
    expect(await look({ url: 'ws://127.0.0.1:1/' })).toMatchObject({
      fault: expect.stringContaining('ECONNREFUSED'),
      auth: 'none',
      undocumented: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('is over in ten seconds when it says nothing', async () => {
    const clock = fakeClock()
    const found = look({ clock, information: async () => ({ ok: false, reason: 'none' }) })
    const connection = await relay.connection(0)
    await clock.advance(10_000)
    expect(await found).toMatchObject({ fault: 'no live subscription in time' })
    await expect.poll(() => connection.isOver()).toBe(true)
    expect(clock.pending()).toBe(0)
  })
})
