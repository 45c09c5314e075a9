import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { readAuthorization } from '../../src/device/authorization.ts'
import type { Identity } from '../../src/device/identity.ts'
import { isNudge } from '../../src/device/nudge.ts'
import { newestSign } from '../../src/device/presence.ts'
import { readReply } from '../../src/device/reply.ts'
import { readSummary } from '../../src/device/summary.ts'
import type { HostRequest } from '../../src/protocol/bodies/request.ts'
import { createConversationKeys } from '../../src/protocol/conversation-keys.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import { isRefusal } from '../../src/protocol/refusal.ts'
import { loadFastCrypto } from '../../src/protocol/signer.ts'
import { fuzzCases } from '../support/fuzz-cases.ts'
import { fuzzRuns } from '../support/fuzz-runs.ts'
import { hostFixtures, validBody } from '../support/host-fixtures.ts'
import { testKey } from '../support/keys.ts'
import { type EventPlan, eventPlan, makeEvent } from './event-cases.ts'
import { type DeviceWorld, type HostMail, mayTake, quietMailbox } from './rules/device-rules.ts'

const [host, phone] = [testKey(11), testKey(13)]
const conversationKey = phone.with(host.publicKey)
const keys = createConversationKeys(phone.secret, 8)
const identity: Identity = { signer: phone.signer, keys }
const relay = 'wss://relay.example.net/'
const { now } = hostFixtures
const asked = { request: '3c'.repeat(32), event: '4d'.repeat(32), issued_at: now }
const world: DeviceWorld = {
  host: host.publicKey,
  device: phone.publicKey,
  relay,
  now,
  conversationKey,
  asked,
}
const terms = { identity, host: host.publicKey, relay, now, policy: 'production' as const }
const others = Object.values(hostFixtures.valid).map((body) => Buffer.from(JSON.stringify(body)))
const cases = fuzzCases('what a device hears')

beforeAll(loadFastCrypto)

/** The operation that each fixture of a reply answers. */
const answered: Readonly<Record<string, string>> = {
  reply_dispatched: 'request_command_send',
  reply_queue: 'request_queue_list',
  reply_devices: 'request_device_list',
  reply_workspaces: 'request_workspace_list',
  reply_revoked: 'request_device_revoke',
  reply_missing_right: 'request_workspace_list',
  reply_conflict: 'request_task_create',
}
const fixtures = [...Object.keys(answered), 'grant', 'presence', 'summary', 'nudge']

interface Mail {
  readonly kind: HostMail
  readonly body: Readonly<Record<string, unknown>>
  readonly mailbox: string
  /** Whether the device takes it. */
  takes(event: NostrEvent): boolean
}

/** @param date when the host says that it wrote, Unix seconds */
function mailOf(fixture: string, date: number): Mail {
  const body = { ...validBody(fixture), host: host.publicKey }
  switch (fixture) {
    case 'grant': {
      const mine = { ...body, device: phone.publicKey, relay, issued_at: date, expires_at: date + 9_000 }
      const mailbox = String(validBody('grant')['grant'])
      return {
        kind: 'grant',
        body: mine,
        mailbox,
        takes: (event) => takes(() => readAuthorization(event, terms)),
      }
    }
    case 'presence': {
      const mailbox = quietMailbox('presence', conversationKey)
      const reads = (event: NostrEvent) => newestSign(null, event, { ...terms, live: true }) !== null
      return { kind: 'presence', body: { ...body, observed_at: date }, mailbox, takes: reads }
    }
    case 'summary': {
      const mailbox = quietMailbox('summaries', conversationKey)
      const reads = (event: NostrEvent) => readSummary(event, terms) !== null
      return { kind: 'summary', body: { ...body, updated_at: date }, mailbox, takes: reads }
    }
    case 'nudge': {
      const mine = { ...body, device: phone.publicKey, issued_at: date, expires_at: date + 86_400 }
      const mailbox = quietMailbox('nudges', conversationKey)
      return { kind: 'nudge', body: mine, mailbox, takes: (event) => isNudge(event, terms) }
    }
    default:
      return replyMail(fixture, body, date)
  }
}

function replyMail(fixture: string, fixed: Readonly<Record<string, unknown>>, date: number): Mail {
  const times = { issued_at: now, expires_at: now + 60 }
  const body = { ...fixed, request: asked.request, request_event: asked.event, ...times, issued_at: date }
  const request = {
    ...validBody(answered[fixture] ?? ''),
    ...times,
    host: host.publicKey,
    request: asked.request,
  }
  // A device that asked knows what it asked for; only the event's ID is looked at.
  const of = { body: request as unknown as HostRequest, event: { id: asked.event } as NostrEvent }
  const reads = (event: NostrEvent) => takes(() => readReply(event, { ...terms, asked: of }))
  return { kind: 'reply', body, mailbox: asked.request, takes: reads }
}

function takes(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (!isRefusal(error)) throw error
    return false
  }
}

function compare(fixture: string, plan: EventPlan): void {
  const { kind, body, mailbox, takes } = mailOf(fixture, now + plan.shift)
  const signer = plan.signer % 10 === 0 ? testKey(15) : host
  const made = makeEvent(plan, {
    body,
    mailbox,
    signer,
    recipient: phone.publicKey,
    key: conversationKey,
    others,
    now,
  })
  const may = mayTake(kind, made, world)
  const took = takes(made.event)
  // What an outcome must be to answer its operation is not said a second time here.
  const whole = JSON.stringify(body).includes('"status":"ok"')
  if (whole) expect(took && !may, JSON.stringify(plan)).toBe(false)
  else expect(took, JSON.stringify(plan)).toBe(may)
  cases.ran()
}

describe('a device', () => {
  it.each(fixtures)('takes %s as its host says it', (fixture) => {
    const plain = {
      body: 0,
      signer: 1,
      shift: 0,
      bodyEdits: [],
      inOperation: false,
      envelopeEdits: [],
      byteEdits: [],
    }
    const { body, mailbox, takes } = mailOf(fixture, now)
    const material = {
      body,
      mailbox,
      signer: host,
      recipient: phone.publicKey,
      key: conversationKey,
      others,
      now,
    }
    expect(takes(makeEvent({ ...plain, outer: 'nothing' }, material).event)).toBe(true)
  })

  it('takes nothing for an answer, a grant, a presence, a summary or a nudge that is not just that', () => {
    fc.assert(fc.property(fc.constantFrom(...fixtures), eventPlan, compare), { numRuns: fuzzRuns(700) })
  })
})
