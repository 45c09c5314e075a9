import { describe, expect, it } from 'vitest'
import { bodyBytesMax } from '../../src/limits.ts'
import { parseBody } from '../../src/protocol/body.ts'
import { jcs } from '../../src/protocol/jcs.ts'
import type { JsonObject, JsonValue } from '../../src/protocol/json-value.ts'
import type { WireCode } from '../../src/protocol/refusal.ts'
import type { RelayPolicy } from '../../src/protocol/relay-url.ts'
import { bodyNameOf, hostFixtures, requestWith, validBody } from '../support/host-fixtures.ts'
import { refused } from '../support/refusals.ts'

const encoder = new TextEncoder()
const { host, owner } = hostFixtures.keys
const now = 1_795_000_000

/** What a change of one field of a valid body earns, and the field that is named. */
type Case = [fixture: string, changes: JsonObject, code: WireCode | 'accepted', field?: string]

const cases: Case[] = [
  // Grants
  ['grant', { expires_at: now }, 'malformed', 'expires_at'],
  ['grant', { expires_at: now - 1 }, 'malformed', 'expires_at'],
  ['grant', { issued_at: -1 }, 'malformed', 'issued_at'],
  ['grant', { issued_at: 1.5 }, 'malformed', 'issued_at'],
  ['grant', { issued_at: String(now) }, 'malformed', 'issued_at'],
  ['grant', { epoch: -1 }, 'malformed', 'epoch'],
  ['grant', { epoch: null }, 'malformed', 'epoch'],
  ['grant', { host: 'f'.repeat(64) }, 'malformed', 'host'],
  ['grant', { host: host.toUpperCase() }, 'malformed', 'host'],
  ['grant', { device: owner }, 'forbidden', 'device'],
  ['grant', { device: host }, 'forbidden', 'device'],
  ['grant', { owner: host }, 'forbidden', 'owner'],
  ['grant', { relay: `wss://${'r'.repeat(2_043)}` }, 'forbidden', 'relay'],
  ['grant', { relay: 7 }, 'malformed', 'relay'],
  ['grant', { rights: ['observe', 'drive'] }, 'malformed', 'rights.1'],
  ['grant', { rights: 'observe' }, 'malformed', 'rights'],
  ['grant', { origin: { kind: 'gift', id: 'a'.repeat(64), issuer: host } }, 'malformed', 'origin.kind'],
  [
    'grant',
    { origin: { kind: 'approval', id: 'a'.repeat(64), issuer: host, by: 1 } },
    'malformed',
    'origin.by',
  ],
  ['grant', { requires: ['x'], issued_at: 'soon' }, 'unsupported', 'requires'],
  ['grant', { v: 'openagents.host-grant.v2', extra: 1 }, 'unsupported', 'v'],
  ['grant', { v: 1 }, 'malformed', 'v'],
  ['grant', { requires: 'none' }, 'malformed', 'requires'],
  // The gravest breach decides, whatever else is wrong.
  ['grant', { relay: 'ws://r.example/', epoch: 'one' }, 'malformed', 'epoch'],
  // Enrollment requests
  ['enrollment', { owner: host }, 'forbidden', 'owner'],
  ['enrollment', { relay: 'wss://u@relay.example.net/' }, 'forbidden', 'relay'],
  ['enrollment', { expires_at: now + 1 }, 'accepted'],
  ['enrollment', { rights: [] }, 'malformed', 'rights'],
  // Nudges
  ['nudge', { expires_at: now + 86_399 }, 'malformed', 'expires_at'],
  ['nudge', { expires_at: now + 86_401 }, 'malformed', 'expires_at'],
  ['nudge', { device: host }, 'forbidden', 'device'],
  // Presence
  ['presence', { protocol: 2 }, 'malformed', 'protocol'],
  ['presence', { compatibility: { min: 2, max: 1 } }, 'malformed', 'compatibility.min'],
  ['presence', { capabilities: ['a', 'a'] }, 'malformed', 'capabilities'],
  ['presence', { capabilities: ['Upper'] }, 'malformed', 'capabilities.0'],
  ['presence', { capabilities: numbered(64) }, 'accepted'],
  ['presence', { capabilities: numbered(65) }, 'bounds', 'capabilities'],
  ['presence', { telemetry: null }, 'accepted'],
  [
    'presence',
    { telemetry: { cpu_count: 0, cpu_utilization_pct: 1, memory_available_pct: 1 } },
    'malformed',
    'telemetry.cpu_count',
  ],
  [
    'presence',
    { telemetry: { cpu_count: 1, cpu_utilization_pct: 101, memory_available_pct: 1 } },
    'malformed',
    'telemetry.cpu_utilization_pct',
  ],
  ['presence', { generation: 0 }, 'accepted'],
  ['presence', { owner: host }, 'forbidden', 'owner'],
  // Activity summaries
  ['summary', { headline: 'h'.repeat(160) }, 'accepted'],
  ['summary', { headline: 'h'.repeat(161) }, 'bounds', 'headline'],
  ['summary', { headline: 'two\nlines' }, 'bounds', 'headline'],
  ['summary', { headline: '' }, 'bounds', 'headline'],
  ['summary', { attention: 'approval' }, 'accepted'],
  ['summary', { attention: 'completed' }, 'malformed', 'attention'],
  ['summary', { phase: 'running' }, 'malformed', 'attention'],
  ['summary', { phase: 'running', attention: 'none' }, 'accepted'],
  ['summary', { phase: 'completed', attention: 'completed' }, 'accepted'],
  ['summary', { phase: 'completed', attention: 'none' }, 'accepted'],
  ['summary', { phase: 'failed', attention: 'failed', headline: 'Task failed' }, 'accepted'],
  ['summary', { phase: 'failed', attention: 'failed' }, 'malformed', 'headline'],
  ['summary', { phase: 'failed', attention: 'none', headline: 'Task failed' }, 'malformed', 'attention'],
  ['summary', { phase: 'running', attention: 'failed' }, 'malformed', 'attention'],
  ['summary', { phase: 'paused' }, 'malformed', 'phase'],
  ['summary', { subject: { kind: 'thread', id: '7'.repeat(64) } }, 'malformed', 'subject.kind'],
  // Requests
  ['request_device_list', { expires_at: now }, 'malformed', 'expires_at'],
  ['request_device_list', { grant: null }, 'malformed', 'epoch'],
  ['request_device_list', { grant: null, epoch: null }, 'accepted'],
  ['request_device_list', { op: null }, 'malformed', 'op'],
  ['request_device_list', { op: {} }, 'malformed', 'op.kind'],
  ['request_device_list', { op: { kind: 'device.list', all: true } }, 'malformed', 'op.all'],
  ['request_device_list', { relay: 'ws://127.0.0.1:7000/' }, 'forbidden', 'relay'],
  // Replies
  ['reply_missing_right', { result: refusal('missing_right', null) }, 'malformed', 'result.missing'],
  ['reply_missing_right', { result: refusal('forbidden', 'operate') }, 'malformed', 'result.missing'],
  ['reply_missing_right', { result: refusal('teapot', null) }, 'malformed', 'result.code'],
  ['reply_missing_right', { result: { status: 'refused', code: 'denied' } }, 'malformed', 'result.missing'],
  ['reply_conflict', { issued_at: now - 60, expires_at: now + 60 }, 'accepted'],
  ['reply_conflict', { issued_at: now - 61, expires_at: now + 60 }, 'malformed', 'expires_at'],
  ['reply_conflict', { result: { status: 'maybe' } }, 'malformed', 'result.status'],
]

describe('a body', () => {
  it.each(cases)('%s with %j is %s', async (fixture, changes, code, field) => {
    if (code === 'accepted') {
      expect(jcs(parse(fixture, changes))).toBe(jcs({ ...validBody(fixture), ...changes }))
      return
    }
    const refusal = await refused(code, () => parse(fixture, changes))
    expect(refusal.field).toBe(field)
  })

  it.each(Object.keys(hostFixtures.valid))(
    '%s is malformed without any one of its fields',
    async (fixture) => {
      for (const field of Object.keys(validBody(fixture))) {
        const { [field]: _removed, ...rest } = validBody(fixture)
        const refusal = await refused('malformed', () =>
          parseBody(bodyNameOf(validBody(fixture)), rest, 'production'),
        )
        expect(refusal.field).toBe(field)
      }
    },
  )

  it.each(Object.keys(hostFixtures.valid))(
    '%s is malformed with a field too many, at any depth',
    async (fixture) => {
      const name = bodyNameOf(validBody(fixture))
      for (const spoiled of withExtraField(validBody(fixture))) {
        await refused('malformed', () => parseBody(name, spoiled, 'production'))
      }
    },
  )

  it.each(['null', '[]', '"v"', '1', 'true'])('is malformed when it is %s', async (text) => {
    await refused('malformed', () => parseBody('grant', encoder.encode(text), 'production'))
  })

  it('is held to 128 KiB before anything is read', async () => {
    const op = { kind: 'spend.list', grant: { note: 'x'.repeat(bodyBytesMax) } }
    await refused('bounds', () =>
      parseBody('request', encoder.encode(JSON.stringify(requestWith(op))), 'production'),
    )
    await refused('bounds', () =>
      parseBody('request', new Uint8Array(bodyBytesMax + 1).fill(0x7b), 'production'),
    )
  })

  it('is malformed when an integer is not written as one, except where only its owner reads it', async () => {
    const text = JSON.stringify(validBody('request_device_list'))
    await refused('malformed', () =>
      parseBody('request', encoder.encode(text.replace('"epoch":2', '"epoch":2.0')), 'production'),
    )
    await refused('malformed', () =>
      parseBody('request', encoder.encode(text.replace('1795000000', '1795e6')), 'production'),
    )
    const opaque = JSON.stringify(requestWith({ kind: 'spend.list', grant: { amount: 'AMOUNT' } })).replace(
      '"AMOUNT"',
      '1.0',
    )
    expect(parseBody('request', encoder.encode(opaque), 'production').op).toEqual({
      kind: 'spend.list',
      grant: { amount: 1 },
    })
  })

  it('shows a made-up field name only when it looks like one', async () => {
    const refusal = await refused('malformed', () => parse('grant', { 'my secret text': 1 }))
    expect(refusal.field).toBe('(unknown)')
    expect(refusal.message).not.toContain('secret')
  })

  it('may name a loopback relay only under the loopback test policy', async () => {
    const loopback = { relay: 'ws://127.0.0.1:7447/' }
    await refused('forbidden', () => parse('grant', loopback))
    expect(parse('grant', loopback, 'loopback_test')).toMatchObject(loopback)
  })
})

/** Reads a fixture with some of its fields changed. */
function parse(fixture: string, changes: JsonObject, policy: RelayPolicy = 'production'): unknown {
  const body = validBody(fixture)
  return parseBody(bodyNameOf(body), { ...body, ...changes }, policy)
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `c${index}`)
}

function refusal(code: string, missing: string | null): JsonObject {
  return { status: 'refused', code, missing }
}

/** Copies of `value` with one unknown field added to one of the objects in it. */
function withExtraField(value: JsonValue): JsonValue[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => withExtraField(item).map((spoiled) => value.with(index, spoiled)))
  }
  const inner = Object.entries(value).flatMap(([key, item]) =>
    withExtraField(item).map((spoiled) => ({ ...value, [key]: spoiled })),
  )
  return [{ ...value, extra: 1 }, ...inner]
}
