import { expect, test } from 'vitest'
import { listen } from '../../src/device/listen.ts'
import { listenHeardMax } from '../../src/limits.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { artifact } from '../support/artifact.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fakeSockets } from '../support/fake-relay-sockets.ts'
import { testKey } from '../support/keys.ts'

const host = testKey(11)
const self = testKey(13)

function stage() {
  const clock = fakeClock()
  const sockets = fakeSockets()
  const looks: NostrEvent[][] = []
  const found = listen({
    relay: 'wss://relay.example.net/',
    signer: self.signer,
    clock,
    dial: sockets.dial,
    waitMs: 60_000,
    filter: () => ({}),
    async consider(heard) {
      looks.push([...heard])
      return null
    },
  })
  const connection = sockets.last()
  const send = (event: NostrEvent) => connection.say('EVENT', 'listen', event)
  const end = async () => {
    await clock.advance(60_000)
    return found
  }
  return { clock, connection, looks, send, end }
}

const event = () => artifact(host, self.publicKey)

test('everything stored is looked at together, and each event after that by itself', async () => {
  const { clock, connection, looks, send, end } = stage()
  const [one, two, three] = [event(), event(), event()]
  connection.open()
  await clock.advance(5_000)
  send(one)
  send(two)
  expect(looks).toEqual([])
  connection.say('EOSE', 'listen')
  await clock.advance(0)
  send(three)
  await clock.advance(0)
  expect(looks).toEqual([[one, two], [three]])
  expect(await end()).toBeNull()
})

test('of a relay that sends without end no more is held than the bound', async () => {
  const { clock, connection, looks, send, end } = stage()
  const one = event()
  connection.open()
  await clock.advance(5_000)
  for (let index = 0; index < listenHeardMax * 2; index += 1) send(one)
  connection.say('EOSE', 'listen')
  await clock.advance(0)
  expect(looks.map(({ length }) => length)).toEqual([listenHeardMax])
  expect(await end()).toBeNull()
})
