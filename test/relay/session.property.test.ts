import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Filter } from '../../src/protocol/relay-frames.ts'
import { loadFastCrypto } from '../../src/protocol/signer.ts'
import type { Hub } from '../../src/relay/hub.ts'
import { openSession, type Session } from '../../src/relay/session.ts'
import { createRelayStore } from '../../src/relay/store.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { artifact } from '../support/artifact.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { testKey } from '../support/keys.ts'

const url = 'ws://127.0.0.1:7777'
const keys = [testKey(11), testKey(13), testKey(14), testKey(15)] as const
const [host, phone, tablet] = keys
const pool = [
  ...[phone, tablet, host].flatMap((from) =>
    [1, 2].map((createdAt) => artifact(from, host.publicKey, { createdAt })),
  ),
  ...[phone, tablet].flatMap((to) => [1, 2].map((createdAt) => artifact(host, to.publicKey, { createdAt }))),
]
const filters: Filter[] = [
  {},
  { kinds: [3188], since: 2 },
  { '#p': [host.publicKey] },
  { '#p': [phone.publicKey] },
  { authors: [tablet.publicKey] },
]

const connection = fc.nat(2)
const step = fc.oneof(
  fc.record({ do: fc.constant('auth' as const), connection, key: fc.nat(keys.length - 1) }),
  fc.record({ do: fc.constant('publish' as const), connection, event: fc.nat(pool.length - 1) }),
  fc.record({
    do: fc.constant('ask' as const),
    connection,
    name: fc.nat(1),
    filter: fc.nat(filters.length - 1),
  }),
  fc.record({ do: fc.constant('close' as const), connection, name: fc.nat(1) }),
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** One connection with what it heard since each of its subscriptions was opened, and what it should have heard. */
interface Connected {
  session: Session
  keys: Set<string>
  challenge: string
  heard: Map<string, string[]>
  due: Map<string, { filter: Filter; ids: string[] }>
}

beforeAll(loadFastCrypto)

it('shows every subscription exactly what its keys may read and its filter asks for, each event once', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const clock = fakeClock()
      const hub: Hub = {
        store: createRelayStore(clock, () => null),
        clock,
        random: systemRandom,
        serves: () => [host.publicKey],
        listeners: new Set(),
      }
      const connections = [0, 1, 2].map(() => connect(hub))
      const stored: NostrEvent[] = []
      for (const one of steps) {
        const at = connections[one.connection]
        if (at !== undefined) play(one, at, { stored, connections, now: nowSeconds(clock) })
      }
      for (const { heard, due } of connections) {
        for (const [name, { ids }] of due) expect((heard.get(name) ?? []).sort()).toEqual(ids.sort())
      }
    }),
    { numRuns: fuzzRuns(80) },
  )
})

interface Around {
  stored: NostrEvent[]
  connections: Connected[]
  now: number
}

function play(one: Step, at: Connected, { stored, connections, now }: Around): void {
  switch (one.do) {
    case 'auth':
      authenticate(at, keys[one.key] ?? host, now)
      break
    case 'publish':
      publish(at, pool[one.event], stored, connections)
      break
    case 'ask':
      ask(at, `s${one.name}`, filters[one.filter] ?? {}, stored)
      break
    case 'close':
      at.session.received(JSON.stringify(['CLOSE', `s${one.name}`]))
      at.due.delete(`s${one.name}`)
  }
}

function connect(hub: Hub): Connected {
  const connected = {
    keys: new Set<string>(),
    challenge: '',
    heard: new Map<string, string[]>(),
    due: new Map(),
  }
  const session = openSession(hub, {
    send(text) {
      const frame = JSON.parse(text)
      if (frame[0] === 'AUTH') connected.challenge = frame[1]
      if (frame[0] === 'EVENT')
        connected.heard.set(frame[1], [...(connected.heard.get(frame[1]) ?? []), frame[2].id])
    },
    bufferedBytes: () => 0,
    drop: () => {},
    urls: () => [url],
  })
  return Object.assign(connected, { session })
}

function authenticate(at: Connected, key: (typeof keys)[number], now: number): void {
  const tags = [
    ['relay', url],
    ['challenge', at.challenge],
  ]
  at.session.received(
    JSON.stringify(['AUTH', key.signer.sign({ kind: 22_242, created_at: now, tags, content: '' })]),
  )
  at.keys.add(key.publicKey)
}

function publish(at: Connected, event: NostrEvent | undefined, stored: NostrEvent[], all: Connected[]): void {
  if (event === undefined) return
  at.session.received(JSON.stringify(['EVENT', event]))
  if (stored.includes(event)) return
  stored.push(event)
  for (const other of all) {
    for (const { filter, ids } of other.due.values()) if (isDue(other, filter, event)) ids.push(event.id)
  }
}

function ask(at: Connected, name: string, filter: Filter, stored: NostrEvent[]): void {
  at.heard.delete(name)
  at.session.received(JSON.stringify(['REQ', name, filter]))
  at.due.delete(name)
  if (at.keys.size === 0) return
  const ids = stored.filter((event) => isDue(at, filter, event)).map((event) => event.id)
  at.due.set(name, { filter, ids })
}

function isDue(at: Connected, filter: Filter, event: NostrEvent): boolean {
  const recipient = event.tags[0]?.[1] ?? ''
  if (!at.keys.has(event.pubkey) && !at.keys.has(recipient)) return false
  if (filter.since !== undefined && event.created_at < filter.since) return false
  if (filter.authors !== undefined && !filter.authors.includes(event.pubkey)) return false
  return filter['#p'] === undefined || filter['#p'].includes(recipient)
}
