import { afterEach, beforeEach, expect } from 'vitest'
import { type Relay, startRelay } from '../../src/relay/listen.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { type TestKey, testKey } from '../support/keys.ts'
import { movableClock } from '../support/movable-clock.ts'
import { type RawClient, rawClient } from '../support/raw-relay-client.ts'

export const host = testKey(11)
export const phone = testKey(13)
export const tablet = testKey(14)
export const stranger = testKey(15)
export const clock = movableClock()

/** The relay of the running test, fresh for each. */
export let relay: Relay
let clients: RawClient[]
let served: readonly string[] | null

beforeEach(async () => {
  clients = []
  served = [host.publicKey]
  clock.reset()
  await start()
})

afterEach(async () => {
  for (const client of clients) client.close()
  await relay.close()
})

async function start(urls: readonly string[] = []): Promise<void> {
  const where = { host: '127.0.0.1', port: 0 }
  relay = await startRelay({ clock, random: systemRandom, ...where, serves: () => served, urls: () => urls })
}

/** Replaces the relay by one that is also reached by `urls`. */
export async function restartBehind(...urls: string[]): Promise<void> {
  await relay.close()
  await start(urls)
}

/** Changes the host keys that are served; null: anybody's. */
export function serve(keys: readonly string[] | null): void {
  served = keys
}

export async function connect(): Promise<RawClient> {
  const client = await rawClient(relay.url)
  clients.push(client)
  return client
}

export async function connectAs(key: TestKey): Promise<RawClient> {
  const client = await connect()
  expect(await client.authenticate(key)).toMatchObject(['OK', expect.anything(), true, ''])
  return client
}
