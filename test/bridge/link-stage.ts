import { afterEach, beforeEach } from 'vitest'
import { createRelayLink, type RelayLink } from '../../src/bridge/relay-link.ts'
import type { Arrival } from '../../src/bridge/relay-link-options.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { verifyEvent } from '../../src/protocol/signer.ts'
import { artifact } from '../support/artifact.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type FakeConnection, type FakeSockets, fakeSockets } from '../support/fake-relay-sockets.ts'
import { testKey } from '../support/keys.ts'

export const host = testKey(11)
export const phone = testKey(13)
const url = 'wss://relay.example.net/'

/** The link of the running test on a fake clock and fake sockets, and what it handed on. */
export let clock: FakeClock
export let sockets: FakeSockets
export let link: RelayLink
export let arrivals: (Arrival & { id: string })[]

beforeEach(() => {
  clock = fakeClock()
  sockets = fakeSockets()
  arrivals = []
  let draws = 0
  link = createRelayLink({
    url,
    signer: host.signer,
    clock,
    random: {
      bytes(count) {
        draws += 1
        return new Uint8Array(count).fill(draws % 251)
      },
    },
    dial: sockets.dial,
    verify: verifyEvent,
    onEvent: (event, arrival) => void arrivals.push({ ...arrival, id: event.id }),
  })
})

afterEach(() => link.close())

export const toHost = (changes: Parameters<typeof artifact>[2] = {}): NostrEvent =>
  artifact(phone, host.publicKey, changes)
export const deliver = (connection: FakeConnection, event: NostrEvent): void =>
  connection.say('EVENT', connection.subscription(), event)
export const asks = (connection: FakeConnection): unknown[][] =>
  connection.sent.filter((frame) => frame[0] === 'REQ')
export const published = (connection: FakeConnection): unknown[] =>
  connection.sent.filter((frame) => frame[0] === 'EVENT').map((frame) => (frame[1] as NostrEvent).id)
