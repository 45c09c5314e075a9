import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRelayLink, type RelayLink } from '../../src/bridge/relay-link.ts'
import { type EventSigner, verifyEvent } from '../../src/protocol/signer.ts'
import { nowSeconds, pause, systemClock } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { dialRelay } from '../../src/seams/ws-relay-socket.ts'
import { artifact } from '../support/artifact.ts'
import { type ScriptedConnection, type ScriptedRelay, scriptedRelay } from '../support/scripted-relay.ts'
import { host, phone, toHost } from './link-stage.ts'

let relay: ScriptedRelay
let link: RelayLink | null = null
let heard: string[]

beforeEach(async () => {
  relay = await scriptedRelay()
  heard = []
})
afterEach(async () => {
  link?.close()
  link = null
  await relay.close()
})

/** A link to the scripted relay, and its first connection. */
async function connected(signer: EventSigner = host.signer): Promise<[RelayLink, ScriptedConnection]> {
  const opened = createRelayLink({
    url: relay.url,
    signer,
    clock: systemClock,
    random: systemRandom,
    dial: dialRelay,
    verify: verifyEvent,
    onEvent: (event) => void heard.push(event.id),
  })
  link = opened
  return [opened, await relay.connection(0)]
}

const isLive = (opened: RelayLink) => expect.poll(() => opened.state().state).toBe('live')
const freshUntil = () => nowSeconds(systemClock) + 60

describe('a relay that wants to know who asks', () => {
  it('before anything is asked, for the URL that was dialled, with its path', async () => {
    const [opened, connection] = await connected()
    connection.say('AUTH', 'first')
    const auth = await connection.takeAuth('first')
    expect([auth.pubkey, verifyEvent(auth)]).toEqual([host.publicKey, true])
    await connection.serve()
    await isLive(opened)
    expect(opened.state().auth).toBe('accepted')
    expect(connection.heard.map(([type]) => type)).toEqual(['AUTH', 'REQ'])
  })

  it.each(['auth-required', 'restricted'])('only once something is asked (CLOSED %s)', async (prefix) => {
    const [opened, connection] = await connected()
    const [, subscription] = await connection.next('REQ')
    connection.say('CLOSED', subscription, `${prefix}: who are you?`)
    connection.say('AUTH', 'second thoughts')
    await connection.takeAuth('second thoughts')
    await connection.serve()
    await isLive(opened)
    expect(relay.connections).toHaveLength(1)
  })

  it('while it already answers as to a stranger: what is stored is heard after AUTH, and live comes after it', async () => {
    const [opened, connection] = await connected()
    const [, subscription] = await connection.next('REQ')
    connection.say('AUTH', 'late')
    connection.say('EOSE', subscription)
    const auth = await connection.next('AUTH')
    expect(opened.state().state).toBe('connecting')
    const waiting = toHost()
    connection.say('OK', (auth[1] as { id: string }).id, true, '')
    await connection.serve(waiting)
    await isLive(opened)
    expect(heard).toEqual([waiting.id])
  })

  it('in mid-session, the old challenge repeated: what came meanwhile is heard once', async () => {
    const [opened, connection] = await connected()
    connection.say('AUTH', 'same')
    await connection.takeAuth('same')
    const early = toHost()
    const subscription = await connection.serve(early)
    await isLive(opened)
    connection.say('CLOSED', subscription, 'auth-required: say it again')
    connection.say('AUTH', 'same')
    await connection.takeAuth('same')
    const meanwhile = toHost()
    await connection.serve(early, meanwhile)
    await expect.poll(() => heard).toEqual([early.id, meanwhile.id])
    await isLive(opened)
    expect([relay.connections.length, opened.state().reconnects]).toEqual([1, 0])
  })

  it.each(['auth-required', 'restricted'])(
    'only for an event (OK false %s): it is sent again',
    async (prefix) => {
      const [opened, connection] = await connected()
      await connection.serve()
      await isLive(opened)
      const reply = artifact(host, phone.publicKey)
      const outcome = opened.publish(reply, freshUntil())
      await connection.next('EVENT')
      connection.say('OK', reply.id, false, `${prefix}: not from strangers`)
      connection.say('AUTH', 'for the event')
      await connection.takeAuth('for the event')
      await connection.serve()
      expect(await connection.next('EVENT')).toEqual(['EVENT', reply])
      connection.say('OK', reply.id, true, '')
      expect(await outcome).toEqual({ outcome: 'accepted', duplicate: false })
    },
  )

  it('with three challenges at once: the answer to the last one counts', async () => {
    const [opened, connection] = await connected()
    for (const challenge of ['one', 'two', 'three']) connection.say('AUTH', challenge)
    await connection.takeAuth('one', false, 'invalid: an old challenge')
    await connection.takeAuth('two', false, 'invalid: an old challenge')
    await connection.takeAuth('three')
    await connection.serve()
    await isLive(opened)
    expect(opened.state().auth).toBe('accepted')
  })

  it('and refuses the answer, yet serves: the link is live and says so', async () => {
    const [opened, connection] = await connected()
    connection.say('AUTH', 'no')
    await connection.takeAuth('no', false, 'restricted: members only')
    await connection.serve()
    await isLive(opened)
    expect(opened.state().auth).toBe('refused')
  })

  it('and refuses the answer for good: the connection ends, and the next one waits', async () => {
    const [opened, connection] = await connected()
    connection.say('AUTH', 'no')
    await connection.takeAuth('no', false, 'restricted: members only')
    const [, subscription] = await connection.next('REQ')
    connection.say('CLOSED', subscription, 'auth-required: members only')
    await connection.takeAuth('no', false, 'restricted: members only')
    await expect.poll(() => connection.isOver()).toBe(true)
    expect(opened.state()).toMatchObject({
      state: 'waiting',
      last_error: 'restricted: restricted: members only',
    })
  })

  it('and says so in a NOTICE: that is nothing', async () => {
    const [opened, connection] = await connected()
    const subscription = await connection.serve()
    await isLive(opened)
    const reply = artifact(host, phone.publicKey)
    void opened.publish(reply, freshUntil())
    await connection.next('EVENT')
    for (const words of ['auth-required: AUTH', `OK ${reply.id} true`, 'rate-limited: go away'])
      connection.say('NOTICE', words)
    const after = toHost()
    connection.say('EVENT', subscription, after)
    await expect.poll(() => heard).toEqual([after.id])
    expect(opened.state()).toMatchObject({ state: 'live', unpublished: 1, auth: 'none' })
    expect(connection.heard.map(([type]) => type)).toEqual(['REQ', 'EVENT'])
  })
})

describe('a signer that is elsewhere', () => {
  const slowly = (sign: EventSigner['sign']): EventSigner => ({ publicKey: host.publicKey, sign })

  it('is waited for', async () => {
    const signer = slowly(async (template) => {
      await pause(systemClock, 30)
      return host.signer.sign(template)
    })
    const [opened, connection] = await connected(signer)
    connection.say('AUTH', 'patience')
    await connection.takeAuth('patience')
    await connection.serve()
    await isLive(opened)
  })

  it('and fails costs only what the relay shows to nobody else', async () => {
    const [opened, connection] = await connected(slowly(() => Promise.reject(new Error('no'))))
    connection.say('AUTH', 'nobody home')
    await connection.serve()
    await isLive(opened)
    expect(connection.heard.map(([type]) => type)).toEqual(['REQ'])
  })
})
