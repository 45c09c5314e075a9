import { describe, expect, it } from 'vitest'
import type { Identity } from '../../src/device/identity.ts'
import { readReply } from '../../src/device/reply.ts'
import { signRequest } from '../../src/device/request.ts'
import type { Result } from '../../src/protocol/bodies/reply.ts'
import { createConversationKeys } from '../../src/protocol/conversation-keys.ts'
import { sealEnvelope } from '../../src/protocol/envelope.ts'
import type { NostrEvent } from '../../src/protocol/event.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { systemRandom } from '../../src/seams/random.ts'
import { type TestKey, testKey } from '../support/keys.ts'
import { refused } from '../support/refusals.ts'

const host = testKey(11)
const phone = testKey(13)
const stranger = testKey(15)
const now = 1_795_000_000
const relay = 'wss://relay.example.net/'
const request = '3c'.repeat(32)
const task = '7a'.repeat(32)
const command = '6f'.repeat(32)

const identity = (key: TestKey): Identity => ({
  signer: key.signer,
  keys: createConversationKeys(key.secret, 4),
})
const op: Operation = {
  kind: 'task.command',
  command: { command, task, action: 'queue', based_on: 0, text: 'x', emulate: false, issued_at: now },
}
const dispatched: Result = {
  status: 'ok',
  outcome: { kind: 'dispatched', receipt: { operation: 'task.command', reference: task } },
}
const asked = signRequest({
  identity: identity(phone),
  to: { host: host.publicKey, relay, grant: { grant: '1a'.repeat(32), epoch: 2 } },
  op,
  request,
  now,
  random: systemRandom,
  policy: 'production',
})

interface Changes {
  body?: object
  signer?: TestKey
  recipient?: TestKey
  mailbox?: string
}

function reply({ body = {}, signer = host, recipient = phone, mailbox = request }: Changes = {}): NostrEvent {
  const whole = {
    v: 'openagents.host-reply.v1',
    requires: [],
    request,
    request_event: asked.event.id,
    host: host.publicKey,
    issued_at: now + 1,
    expires_at: now + 60,
    result: dispatched,
    ...body,
  }
  return sealEnvelope({
    signer: signer.signer,
    recipient: recipient.publicKey,
    mailbox,
    body: whole,
    conversationKey: signer.with(recipient.publicKey),
    issuedAt: whole.issued_at,
    retainUntil: whole.expires_at,
    random: systemRandom,
  })
}

const read = (event: NostrEvent, at = now + 2, reader: TestKey = phone): Result =>
  readReply(event, { identity: identity(reader), asked, now: at, policy: 'production' })

describe('a reply', () => {
  it('that is the host’s answer to this request is its result', () => {
    expect(read(reply())).toEqual(dispatched)
    const refusal: Result = { status: 'refused', code: 'conflict', missing: null }
    expect(read(reply({ body: { result: refusal } }))).toEqual(refusal)
  })

  it.each<[string, Changes]>([
    ['signed by a stranger', { signer: stranger }],
    ['signed by a stranger in the host’s name', { signer: stranger, body: { host: stranger.publicKey } }],
    ['to another device', { recipient: testKey(14) }],
    ['in another mailbox', { mailbox: 'ab'.repeat(32) }],
    ['of another host', { body: { host: stranger.publicKey } }],
    ['to another request', { body: { request: 'ab'.repeat(32) } }],
    ['to another event of this request', { body: { request_event: 'ab'.repeat(32) } }],
    ['with another expiry', { body: { expires_at: now + 59 } }],
    [
      'with an outcome of another operation',
      { body: { result: { status: 'ok', outcome: { kind: 'denied' } } } },
    ],
    [
      'with a receipt of another operation',
      {
        body: {
          result: {
            status: 'ok',
            outcome: { kind: 'dispatched', receipt: { operation: 'task.create', reference: task } },
          },
        },
      },
    ],
    [
      'with a receipt of another task',
      {
        body: {
          result: {
            status: 'ok',
            outcome: { kind: 'dispatched', receipt: { operation: 'task.command', reference: command } },
          },
        },
      },
    ],
    ['with an unknown field', { body: { more: 1 } }],
    [
      'with a missing right that its code does not name',
      { body: { result: { status: 'refused', code: 'stale', missing: 'operate' } } },
    ],
  ])('%s is not one', async (_, changes) => {
    await refused('malformed', () => read(reply(changes)))
  })

  it('with a broken signature or content is not one', async () => {
    const event = reply()
    await refused('malformed', () => read({ ...event, sig: reply().sig }))
    await refused('malformed', () => read({ ...event, content: reply().content }))
  })

  it('of another schema is not one', async () => {
    await refused('unsupported', () => read(reply({ body: { v: 'openagents.host-reply.v2' } })))
  })

  it.each([
    ['60 s before its request', now - 60, now, null],
    ['61 s before its request', now - 61, now, 'malformed'],
    ['60 s ahead of us', now + 59, now - 1, null],
    ['61 s ahead of us', now + 59, now - 2, 'stale'],
    ['60 s before we read it expired', now + 1, now + 120, null],
    ['61 s before we read it expired', now + 1, now + 121, 'stale'],
  ] as const)('dated %s is judged with a minute of leniency', async (_, issued_at, at, code) => {
    const event = reply({ body: { issued_at } })
    if (code === null) expect(read(event, at)).toEqual(dispatched)
    else await refused(code, () => read(event, at))
  })
})

describe('a request', () => {
  it('is dated when it is signed, names the grant, and lives for a minute', () => {
    expect(asked.body).toMatchObject({
      issued_at: now,
      expires_at: now + 60,
      grant: '1a'.repeat(32),
      epoch: 2,
      relay,
    })
    expect(asked.event).toMatchObject({
      created_at: now,
      pubkey: phone.publicKey,
      tags: [
        ['p', host.publicKey],
        ['h', request],
        ['t', 'oa:artifact:v1'],
      ],
    })
  })

  it('that redeems never names a grant', async () => {
    const to = { host: host.publicKey, relay, grant: { grant: '1a'.repeat(32), epoch: 2 } }
    const redeem: Operation = { kind: 'enroll.redeem', invitation: request, capability: task }
    const terms = {
      identity: identity(phone),
      to,
      op: redeem,
      request,
      now,
      random: systemRandom,
      policy: 'production',
    } as const
    await refused('malformed', () => signRequest(terms))
    expect(signRequest({ ...terms, to: { ...to, grant: null } }).body.grant).toBeNull()
  })
})
