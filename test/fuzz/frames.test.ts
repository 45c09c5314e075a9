import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { connectRelay } from '../../src/protocol/relay-connection.ts'
import { parseClientFrame, parseRelayFrame } from '../../src/protocol/relay-frames.ts'
import { loadFastCrypto } from '../../src/protocol/signer.ts'
import { openSession } from '../../src/relay/session.ts'
import { createRelayStore } from '../../src/relay/store.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { artifact } from '../support/artifact.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fakeSockets } from '../support/fake-relay-sockets.ts'
import { fuzzCases } from '../support/fuzz-cases.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { testKey } from '../support/keys.ts'
import { corpus } from './corpus.ts'
import { byteEdit, editedBytes } from './mutate-bytes.ts'
import { editedText, valueEdit } from './mutate-values.ts'
import { clientFrameType, relayFrameType } from './rules/frame-rules.ts'

const [host, phone] = [testKey(11), testKey(13)]
const event = artifact(phone, host.publicKey)
const mine = artifact(host, phone.publicKey)
const subscription = 'ours'
const url = 'wss://relay.example.net/'
const filter = { kinds: [3188], '#p': [host.publicKey], since: 5 }
const frames: readonly (readonly unknown[])[] = [
  ['EVENT', subscription, event],
  ['OK', mine.id, true, ''],
  ['OK', mine.id, false, 'rate-limited: slow down'],
  ['OK', mine.id, false, 'auth-required: who are you'],
  ['EOSE', subscription],
  ['CLOSED', subscription, 'auth-required: who are you'],
  ['CLOSED', subscription, 'error: no'],
  ['NOTICE', 'hello'],
  ['AUTH', 'a challenge'],
  ['COUNT', subscription, { count: 3 }],
  ['EVENT', event],
  ['AUTH', event],
  ['REQ', subscription, filter, { ids: [event.id], limit: 1 }],
  ['COUNT', subscription, filter],
  ['CLOSE', subscription],
]
const texts = frames.map((frame) => Buffer.from(JSON.stringify(frame)))
const cases = fuzzCases('relay frames')

const frameText = fc
  .tuple(
    fc.nat(),
    fc.array(valueEdit, { maxLength: 2 }),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(byteEdit, { minLength: 1, maxLength: 2 }) },
    ),
  )
  .map(([from, edits, bytes]) => {
    const text = Buffer.from(editedText(frames[from % frames.length], edits))
    return Buffer.from(editedBytes(text, bytes, texts)).toString('utf8')
  })

beforeAll(loadFastCrypto)

describe('a frame', () => {
  it('spoilt anywhere is one of the protocol, by its shape, or nothing', () => {
    fc.assert(fc.property(frameText, compare), { numRuns: fuzzRuns(500) })
  })

  it.each(corpus.frames)('is still read as the protocol says: %s', (_, text) => compare(text))
})

describe('a connection', () => {
  it('that hears anything says only what it was asked to: AUTH to a challenge it got, its one subscription, its events', () => {
    fc.assert(
      fc.property(fc.array(frameText, { minLength: 10, maxLength: 10 }), (heard) => {
        const { dial, last } = fakeSockets()
        const outcomes: string[] = []
        const connection = connectRelay(
          { url, signer: host.signer, clock: fakeClock(), dial, subscription, filters: () => [filter] },
          {
            event: (brought) => expect(heard.some((text) => text.includes(brought.id))).toBe(true),
            live() {},
            published: (id) => void outcomes.push(id),
            ended() {},
          },
        )
        last().open()
        connection.publish(mine)
        for (const text of heard) last().hear(text)
        for (const frame of last().sent) expect(mayBeSaid(frame, heard), JSON.stringify(frame)).toBe(true)
        expect(outcomes.length <= 1 && outcomes.every((id) => id === mine.id)).toBe(true)
        connection.close()
        cases.ran(heard.length)
      }),
      { numRuns: fuzzRuns(30) },
    )
  })

  it('to the embedded relay that never said who it is learns of no event, whatever it asks', () => {
    fc.assert(
      fc.property(fc.array(frameText, { minLength: 10, maxLength: 10 }), (said) => {
        const clock = fakeClock()
        const store = createRelayStore(clock, () => null)
        const secret = artifact(host, phone.publicKey, { createdAt: 9 })
        store.add(secret)
        const heard: string[] = []
        const session = openSession(
          { store, clock, random: systemRandom, serves: () => [host.publicKey], listeners: new Set() },
          { send: (text) => void heard.push(text), bufferedBytes: () => 0, drop() {}, urls: () => [url] },
        )
        for (const text of said) session.received(text)
        expect(heard.some((text) => text.startsWith('["EVENT"') || text.includes(secret.content))).toBe(false)
        for (const text of heard) expect(relayFrameType(text)).not.toBe(null)
        session.ended()
        cases.ran(said.length)
      }),
      { numRuns: fuzzRuns(30) },
    )
  })
})

function compare(text: string): void {
  expect(parseRelayFrame(text)?.type ?? null).toBe(relayFrameType(text))
  expect(parseClientFrame(text)?.type ?? null).toBe(clientFrameType(text))
  cases.ran()
}

function mayBeSaid(frame: readonly unknown[], heard: readonly string[]): boolean {
  const [type, about] = frame
  if (type === 'REQ') return about === subscription && JSON.stringify(frame[2]) === JSON.stringify(filter)
  const { id, tags = [] } = (about ?? {}) as { id?: string; tags?: string[][] }
  if (type === 'EVENT') return id === mine.id
  const [relay, challenge] = tags
  const challenged = heard.some((text) => parsed(text)[0] === 'AUTH' && parsed(text)[1] === challenge?.[1])
  return type === 'AUTH' && relay?.[1] === url && challenged
}

function parsed(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
