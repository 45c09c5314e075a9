import { describe, expect, it } from 'vitest'
import type { Identity } from '../../src/device/identity.ts'
import { isNudge, sealNudge } from '../../src/device/nudge.ts'
import { isAcceptable, isNewer, isStale, newestSign } from '../../src/device/presence.ts'
import { readSummary } from '../../src/device/summary.ts'
import { createConversationKeys } from '../../src/protocol/conversation-keys.ts'
import { openVerified, sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { nudgeMailbox, presenceMailbox, summaryMailbox } from '../../src/protocol/mailbox.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { type TestKey, testKey } from '../support/keys.ts'

const host = testKey(11)
const phone = testKey(13)
const tablet = testKey(14)
const stranger = testKey(15)
const now = 1_795_000_000
const identity: Identity = { signer: phone.signer, keys: createConversationKeys(phone.secret, 4) }
const terms = { identity, host: host.publicKey, policy: 'production', now } as const

interface Sealing {
  readonly signer?: TestKey
  readonly recipient?: TestKey
  readonly mailbox?: string
  readonly issuedAt?: number
  readonly keptSeconds?: number
  readonly [field: string]: unknown
}

/** What a host says unasked, with one thing changed: of the sealing, or any field of the body. */
function said(
  usual: Record<string, unknown>,
  mailboxOf: (key: Uint8Array) => string,
  time: { field: string; keptSeconds: number },
  changes: Sealing,
): NostrEvent {
  const { signer = host, recipient = phone, mailbox, issuedAt, keptSeconds, ...fields } = changes
  const body: Record<string, unknown> = { requires: [], ...usual, ...fields }
  const at = issuedAt ?? Number(body[time.field])
  return sealEnvelope({
    signer: signer.signer,
    recipient: recipient.publicKey,
    mailbox: mailbox ?? mailboxOf(signer.with(recipient.publicKey)),
    body,
    conversationKey: signer.with(recipient.publicKey),
    issuedAt: at,
    retainUntil: at + (keptSeconds ?? time.keptSeconds),
    random: systemRandom,
  })
}

const presence = (changes: Sealing = {}): NostrEvent => {
  const usual = {
    v: 'openagents.host-presence.v1',
    host: host.publicKey,
    owner: testKey(12).publicKey,
    generation: 3,
    protocol: 1,
    compatibility: { min: 1, max: 1 },
    capabilities: [],
    observed_at: now,
    telemetry: null,
  }
  return said(usual, presenceMailbox, { field: 'observed_at', keptSeconds: 300 }, changes)
}

const nudge = (changes: Sealing = {}): NostrEvent => {
  const issued_at = Number(changes['issued_at'] ?? now)
  const usual = {
    v: 'openagents.host-nudge.v1',
    host: host.publicKey,
    device: phone.publicKey,
    issued_at,
    expires_at: issued_at + 86_400,
  }
  return said(usual, nudgeMailbox, { field: 'issued_at', keptSeconds: 86_400 }, changes)
}

const summary = (changes: Sealing = {}): NostrEvent => {
  const usual = {
    v: 'openagents.activity-summary.v1',
    host: host.publicKey,
    subject: { kind: 'task', id: '7a'.repeat(32) },
    sequence: 4,
    phase: 'running',
    headline: 'Task running',
    attention: 'none',
    updated_at: now,
  }
  return said(usual, summaryMailbox, { field: 'updated_at', keptSeconds: 604_800 }, changes)
}

/** What makes any of the three somebody else's. */
const foreign: readonly (readonly [string, Sealing])[] = [
  ['signed by a stranger', { signer: stranger }],
  ['signed by a stranger in the name of the host', { signer: stranger, host: host.publicKey }],
  ['sealed to another device', { recipient: tablet }],
  ['in another mailbox', { mailbox: 'ab'.repeat(32) }],
  ['about another host', { host: stranger.publicKey }],
  ['of another version', { v: 'openagents.something.v1' }],
  ['with an unknown field', { more: 1 }],
]
const broken = (event: NostrEvent, other: NostrEvent): NostrEvent => ({ ...event, sig: other.sig })

describe('a presence', () => {
  const heard = (event: NostrEvent, at = now) => newestSign(null, event, { ...terms, now: at, live: true })

  it('of the host for this device is a sign of life', () => {
    expect(heard(presence())).toMatchObject({ observedAt: now, generation: 3, live: true })
  })

  it.each(foreign)('that is %s is none', (_, changes) => {
    expect(heard(presence(changes))).toBeNull()
  })

  it('with a broken signature is none', () => {
    expect(heard(broken(presence(), presence({ generation: 4 })))).toBeNull()
  })

  it.each([
    [30, true],
    [31, false],
  ])('%i s ahead of the device is acceptable: %s', (ahead, is) => {
    const sign = heard(presence({ observed_at: now + ahead }))
    expect(sign !== null && isAcceptable(sign)).toBe(is)
  })

  it.each([
    [180, false],
    [181, true],
  ])('is stale %i s after: %s', (after, is) => {
    const sign = heard(presence())
    expect(sign !== null && isStale(sign, now + after)).toBe(is)
  })

  it.each([
    ['a later generation, dated earlier', { generation: 4, observed_at: now - 500 }, true],
    ['the same generation, later', { observed_at: now + 1 }, true],
    ['the same again', {}, false],
    ['the same generation, earlier', { observed_at: now - 1 }, false],
    ['an earlier generation, dated later', { generation: 2, observed_at: now + 20 }, false],
  ])('is newer by (generation, observed_at): %s', (_, changes, is) => {
    const sign = heard(presence(changes))
    expect(sign !== null && isNewer(sign, heard(presence()))).toBe(is)
  })
})

describe('a nudge', () => {
  it('of the host for this device is one', () => {
    expect(isNudge(nudge(), terms)).toBe(true)
  })

  it.each<readonly [string, Sealing]>([
    ...foreign,
    ['about another device', { device: tablet.publicKey }],
    ['of another lifetime', { expires_at: now + 86_399, keptSeconds: 86_399 }],
    ['issued more than a minute ahead', { issued_at: now + 61 }],
    ['over', { issued_at: now - 86_400 }],
  ])('that is %s is none', (_, changes) => {
    expect(isNudge(nudge(changes), terms)).toBe(false)
  })

  it('with a broken signature is none', () => {
    expect(isNudge(broken(nudge(), nudge({ issued_at: now + 1 })), terms)).toBe(false)
  })

  it.each([now + 60, now - 86_399])('issued at %i is good', (issued_at) => {
    expect(isNudge(nudge({ issued_at }), terms)).toBe(true)
  })

  it('of this device is what its host takes', () => {
    const event = sealNudge(identity, host.publicKey, now, systemRandom)
    const opened = openVerified(event, host.publicKey, host.with)
    expect(opened).toMatchObject({
      author: phone.publicKey,
      mailbox: nudgeMailbox(host.with(phone.publicKey)),
      issued_at: now,
      retain_until: now + 86_400,
      body: { host: host.publicKey, device: phone.publicKey, issued_at: now, expires_at: now + 86_400 },
    })
  })
})

describe('an activity summary', () => {
  it('of the host for this device is read', () => {
    expect(readSummary(summary(), terms)).toMatchObject({ sequence: 4, phase: 'running' })
  })

  it.each<readonly [string, Sealing]>([
    ...foreign,
    ['past its retention', { updated_at: now - 604_800 }],
    ['kept for a shorter time, which is over', { updated_at: now - 600, keptSeconds: 600 }],
    ['of a failed task in other words', { phase: 'failed', attention: 'failed', headline: 'It broke' }],
    ['of a failed task that wants nothing', { phase: 'failed', headline: 'Task failed' }],
    ['failed in its attention only', { attention: 'failed' }],
    ['waiting for approval while it runs', { attention: 'approval' }],
    ['waiting for input while it runs', { attention: 'input' }],
    ['completed in its attention only', { attention: 'completed' }],
    ['of a phase that is none', { phase: 'paused' }],
    ['of two lines', { headline: 'Task\nrunning' }],
    ['of too long a line', { headline: 'x'.repeat(161) }],
    ['not about a task', { subject: { kind: 'thread', id: '7a'.repeat(32) } }],
    ['of a sequence below zero', { sequence: -1 }],
  ])('that is %s is ignored', (_, changes) => {
    expect(readSummary(summary(changes), terms)).toBeNull()
  })

  it('with a broken signature is ignored', () => {
    expect(readSummary(broken(summary(), summary({ sequence: 5 })), terms)).toBeNull()
  })

  it.each<Sealing>([
    { phase: 'waiting', attention: 'approval' },
    { phase: 'waiting', attention: 'input' },
    { phase: 'completed', attention: 'completed' },
    { phase: 'completed', attention: 'none' },
    { phase: 'failed', attention: 'failed', headline: 'Task failed' },
    { updated_at: now - 604_799 },
    { sequence: 0 },
  ])('may say %j', (changes) => {
    expect(readSummary(summary(changes), terms)).not.toBeNull()
  })
})
