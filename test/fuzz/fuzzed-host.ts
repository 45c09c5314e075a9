import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseBody } from '../../src/protocol/body.ts'
import { openVerified } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { parseInvitation } from '../../src/protocol/invitation.ts'
import { nowSeconds } from '../../src/seams/clock.ts'
import { realDisk } from '../../src/store/disk.ts'
import { keyOf, type TestKey, testKey } from '../support/keys.ts'
import { type QuietBridge, quietBridge } from '../support/quiet-bridge.ts'
import { recordingDisk } from './recording-disk.ts'
import type { HostWorld, Standing } from './rules/event-rules.ts'

export const relayUrl = 'wss://relay.example.net/'

/** Keys that ask a fuzzed host, none of them one of the wire fixtures' own. */
export interface Cast {
  readonly owner: TestKey
  readonly host: TestKey
  /** Holds every right. */
  readonly full: TestKey
  /** May only look. */
  readonly observer: TestKey
  readonly revoked: TestKey
  readonly stranger: TestKey
}

/** An answer that the host published to somebody of the cast. */
export interface HeardAnswer {
  readonly requestEvent: string
  readonly word: string
  readonly event: NostrEvent
}

/** A real service on real files that a test fuzzes, what is true of it, and every change of its files. */
export interface FuzzedHost {
  readonly bridge: QuietBridge
  readonly cast: Cast
  readonly changes: string[]
  keyWith(key: TestKey): Uint8Array
  /** What is true now; a fresh invitation is open, and `newcomer` may redeem it. */
  freshWorld(): Promise<HostWorld & { readonly newcomer: TestKey }>
  /** What the host published since the last call, as answers to requests. */
  answers(): HeardAnswer[]
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>
}

const everything = ['observe', 'operate', 'terminal', 'review', 'access_read', 'access_admin'] as const

export async function fuzzedHost(): Promise<FuzzedHost> {
  const { disk, changes } = recordingDisk(realDisk)
  const bridge = await quietBridge({ disk })
  const secret = (await readFile(join(bridge.home, 'host', 'host.key'), 'utf8')).trim()
  const [full, observer, revoked] = [testKey(1_001), testKey(1_002), testKey(1_003)]
  const cast: Cast = {
    owner: testKey(12),
    host: keyOf(secret),
    full,
    observer,
    revoked,
    stranger: testKey(1_004),
  }
  const month = 2_500_000
  const grants = {
    full: await bridge.enroll(full, [...everything], month),
    observer: await bridge.enroll(observer, ['observe'], month),
    revoked: await bridge.enroll(revoked, ['observe', 'operate'], month),
  }
  await bridge.operator.revoke(revoked.publicKey)
  const granted = (grant: (typeof grants)['full'], state: 'active' | 'revoked'): Standing => ({
    ...grant,
    kind: 'device',
    state,
  })
  const standings = new Map<string, Standing>([
    [cast.owner.publicKey, { kind: 'owner' }],
    [cast.host.publicKey, { kind: 'host' }],
    [full.publicKey, granted(grants.full, 'active')],
    [observer.publicKey, granted(grants.observer, 'active')],
    [revoked.publicKey, granted(grants.revoked, 'revoked')],
  ])
  const keys = new Map<string, Uint8Array>()
  const peers = new Map<string, TestKey>([...Object.values(cast)].map((key) => [key.publicKey, key]))
  let newcomers = 2_000
  const answered = new Set<string>()

  const keyWith = (key: TestKey): Uint8Array => {
    const known = keys.get(key.publicKey) ?? key.with(bridge.host)
    keys.set(key.publicKey, known)
    return known
  }

  /** Takes what was published off the connection, which would grow for ever, and says that the relay has it. */
  const published = (): NostrEvent[] => {
    const connection = bridge.connection()
    const frames = connection.sent.splice(0)
    connection.sent.push(...frames.filter((frame) => frame[0] !== 'EVENT'))
    const events = frames.filter((frame) => frame[0] === 'EVENT').map((frame) => frame[1] as NostrEvent)
    for (const event of events) connection.say('OK', event.id, true, '')
    return events
  }

  return {
    bridge,
    cast,
    changes,
    keyWith,
    async freshWorld() {
      newcomers += 1
      const newcomer = testKey(newcomers)
      peers.set(newcomer.publicKey, newcomer)
      // The requests of the last world and their kept answers are over.
      await bridge.clock.advance(70_000)
      published()
      const now = nowSeconds(bridge.clock)
      // Just long enough: a host knows a bounded number of devices.
      const terms = { rights: ['observe' as const], grant_expires_at: now + 400, relay: null }
      const { code } = await bridge.operator.invite(terms)
      const { invitation, capability } = parseInvitation(code, 'production')
      const kept = bridge.sign(cast.owner, { kind: 'workspace.list' })
      bridge.deliver(kept.event)
      await bridge.answers(kept)
      published()
      return {
        host: bridge.host,
        owner: cast.owner.publicKey,
        relay: relayUrl,
        now,
        standings,
        invitations: new Map([[invitation, capability]]),
        taken: new Map([[kept.request, kept.event.id]]),
        newcomer,
      }
    },
    answers: () =>
      published().flatMap((event) => {
        const peer = peers.get(event.tags.find((tag) => tag[0] === 'p')?.[1] ?? '')
        if (peer === undefined) return []
        const opened = openVerified(event, peer.publicKey, () => keyWith(peer))
        if (opened.schema !== 'openagents.host-reply.v1' || answered.has(event.id)) return []
        answered.add(event.id)
        const { request_event, request, result, expires_at } = parseBody('reply', opened.body, 'production')
        if (opened.mailbox !== request || opened.retain_until !== expires_at) throw new Error('an odd reply')
        const word = result.status === 'ok' ? 'ok' : result.code
        return [{ requestEvent: request_event, word, event }]
      }),
    async idle() {
      do await new Promise((resolve) => setImmediate(resolve))
      while ((await bridge.service().status()).requests_in_flight > 0)
    },
  }
}
