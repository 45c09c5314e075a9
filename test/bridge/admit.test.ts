import { describe, expect, it } from 'vitest'
import { type Around, type Asked, admit } from '../../src/bridge/admit.ts'
import type { KeptReply } from '../../src/bridge/kept-replies.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import {
  capability,
  grantEntry,
  id,
  invitationEntry,
  keys,
  now,
  record,
  relay,
  someEvent,
} from '../support/access.ts'

const op: Operation = { kind: 'workspace.list' }
const redeemOp: Operation = { kind: 'enroll.redeem', invitation: id(0xb1), capability }
const phone = grantEntry()
const request = id(0x51)

const asked: Asked = {
  event: id(0x61),
  signer: keys.phone,
  mailbox: request,
  relay,
  head: {
    v: 'openagents.host-request.v1',
    requires: [],
    request,
    host: keys.host,
    grant: phone.grant.grant,
    epoch: 0,
    relay,
    issued_at: now,
    expires_at: now + 60,
  },
  op: { ok: true, op },
}
const around: Around = { record: record({ grants: [phone] }), kept: null, inFlight: null, now: now + 1 }
const kept: KeptReply = {
  request,
  request_event: asked.event,
  signer: keys.phone,
  epoch: 0,
  expires_at: now + 60,
  reply: someEvent(0x71),
}
const ownerHead = { grant: null, epoch: null }

interface Row {
  readonly name: string
  readonly asked?: Partial<Omit<Asked, 'head'>>
  readonly head?: Partial<Asked['head']>
  readonly around?: Partial<Around>
  readonly earns: string
}

const rows: Row[] = [
  { name: 'a device under its grant acts', earns: 'act device' },
  {
    name: 'the owner acts without a grant',
    asked: { signer: keys.owner },
    head: ownerHead,
    earns: 'act owner',
  },

  // What earns nothing at all.
  { name: 'another host', head: { host: keys.tablet }, earns: 'silent other_host' },
  {
    name: 'another relay',
    asked: { relay: 'wss://other.example.net/' },
    earns: 'silent other_relay',
  },
  { name: 'a mailbox that is not the request', asked: { mailbox: id(9) }, earns: 'silent other_mailbox' },
  { name: 'the last second of a window', around: { now: now + 59 }, earns: 'act device' },
  { name: 'a window that ended', around: { now: now + 60 }, earns: 'silent outside_window' },
  {
    name: 'a request dated 60 s ahead',
    head: { issued_at: now + 60, expires_at: now + 120 },
    around: { now },
    earns: 'act device',
  },
  {
    name: 'a request dated 61 s ahead',
    head: { issued_at: now + 61, expires_at: now + 120 },
    around: { now },
    earns: 'silent outside_window',
  },
  {
    name: 'the host asking itself',
    asked: { signer: keys.host },
    head: ownerHead,
    earns: 'silent from_host',
  },

  // Step 1: the request's ID.
  {
    name: 'a reused request ID',
    around: { kept: { ...kept, request_event: id(8) } },
    earns: 'refuse conflict',
  },
  {
    name: 'a reused request ID comes before an unknown grant',
    head: { grant: id(7), epoch: 0 },
    around: { kept: { ...kept, request_event: id(8) } },
    earns: 'refuse conflict',
  },
  {
    name: 'an ID that is being acted on for another event',
    around: { inFlight: id(8) },
    earns: 'refuse conflict',
  },

  // Step 2: the principal.
  { name: 'a device without a grant', head: ownerHead, earns: 'refuse forbidden' },
  { name: 'an unknown grant', head: { grant: id(7), epoch: 0 }, earns: 'refuse forbidden' },
  {
    name: 'a copied grant',
    asked: { signer: keys.tablet },
    earns: 'refuse forbidden',
  },
  {
    name: 'a revoked grant',
    around: { record: record({ grants: [{ ...phone, revoked_at: now }] }) },
    earns: 'refuse revoked',
  },
  {
    name: 'a revoked grant that also expired',
    around: { record: record({ grants: [grantEntry({ revoked_at: now, expires_at: now })] }) },
    earns: 'refuse revoked',
  },
  {
    name: 'an expired grant',
    around: { record: record({ grants: [grantEntry({ expires_at: now })] }) },
    earns: 'refuse expired',
  },
  { name: 'another epoch than the grant has', head: { epoch: 1 }, earns: 'refuse stale' },
  {
    name: "a grant whose epoch is not its device's",
    around: { record: record({ grants: [phone], epochs: [{ device: keys.phone, epoch: 1 }] }) },
    earns: 'refuse stale',
  },
  {
    name: 'a window that outlives the grant',
    around: { record: record({ grants: [grantEntry({ expires_at: now + 59 })] }) },
    earns: 'refuse forbidden',
  },
  {
    name: 'a window that begins over a minute before the grant',
    around: { record: record({ grants: [grantEntry({ issued_at: now + 61 })] }) },
    earns: 'refuse forbidden',
  },

  // Steps 4 and 5.
  {
    name: 'a missing right, which is retained',
    asked: { op: { ok: true, op: { kind: 'device.list' } } },
    earns: 'refuse missing_right access_read retained',
  },
  { name: 'a kept reply', around: { kept }, earns: 'kept' },
  {
    name: 'a kept missing right',
    asked: { op: { ok: true, op: { kind: 'device.list' } } },
    around: { kept },
    earns: 'kept',
  },
  {
    name: 'a revoked device does not even get its kept reply',
    around: { kept, record: record({ grants: [{ ...phone, revoked_at: now }] }) },
    earns: 'refuse revoked',
  },
  {
    name: 'the same event while it is being acted on',
    around: { inFlight: asked.event },
    earns: 'silent in_flight',
  },
  {
    name: 'a request whose act was cut off is acted on again',
    around: { kept: { ...kept, reply: null } },
    earns: 'act device',
  },

  // A bad operation in an otherwise valid request.
  {
    name: 'a probe of an enrolled device',
    asked: { op: { ok: false, code: 'unsupported' } },
    earns: 'refuse unsupported',
  },
  {
    name: 'a probe of the owner',
    asked: { signer: keys.owner, op: { ok: false, code: 'bounds' } },
    head: ownerHead,
    earns: 'refuse bounds',
  },
  {
    name: 'a probe of a stranger',
    asked: { signer: keys.stranger, op: { ok: false, code: 'malformed' } },
    head: ownerHead,
    earns: 'silent bad_body',
  },
  {
    name: 'a probe of a revoked device',
    asked: { op: { ok: false, code: 'malformed' } },
    around: { record: record({ grants: [{ ...phone, revoked_at: now }] }) },
    earns: 'silent bad_body',
  },

  // Redemption.
  {
    name: 'a redemption with the right capability',
    asked: { signer: keys.stranger, op: { ok: true, op: redeemOp } },
    head: ownerHead,
    around: { record: record({ invitations: [invitationEntry()] }) },
    earns: 'redeem',
  },
  {
    name: 'a redemption by the host key, with the right capability',
    asked: { signer: keys.host, op: { ok: true, op: redeemOp } },
    head: ownerHead,
    around: { record: record({ invitations: [invitationEntry()] }) },
    earns: 'refuse forbidden',
  },
  {
    name: 'a redemption of an unknown invitation',
    asked: { signer: keys.stranger, op: { ok: true, op: redeemOp } },
    head: ownerHead,
    earns: 'silent unknown_capability',
  },
  {
    name: 'a redemption that reuses a request ID',
    asked: { signer: keys.stranger, op: { ok: true, op: redeemOp } },
    head: ownerHead,
    around: {
      record: record({ invitations: [invitationEntry()] }),
      kept: { ...kept, request_event: id(8) },
    },
    earns: 'refuse conflict',
  },
  {
    name: 'the reply of a redemption also keeps its request ID',
    around: {
      record: record({
        grants: [phone],
        invitations: [
          invitationEntry({
            replies: [
              {
                request,
                request_event: id(8),
                signer: keys.phone,
                expires_at: now + 60,
                reply: someEvent(1),
              },
            ],
          }),
        ],
      }),
    },
    earns: 'refuse conflict',
  },
]

describe('the order of admission', () => {
  for (const row of rows) {
    it(`${row.name}: ${row.earns}`, () => {
      const whole: Asked = { ...asked, ...row.asked, head: { ...asked.head, ...row.head } }
      expect(inWords(admit(whole, { ...around, ...row.around }))).toBe(row.earns)
    })
  }

  it('notes the grant that was heard, also with a missing right', () => {
    expect(admit(asked, around)).toMatchObject({ heard: phone.grant.grant })
    const missing = admit({ ...asked, op: { ok: true, op: { kind: 'device.list' } } }, around)
    expect(missing).toMatchObject({ heard: phone.grant.grant })
    expect(admit({ ...asked, head: { ...asked.head, epoch: 4 } }, around)).toMatchObject({ heard: null })
  })
})

function inWords(admission: ReturnType<typeof admit>): string {
  switch (admission.kind) {
    case 'silent':
      return `silent ${admission.reason}`
    case 'refuse':
      return ['refuse', admission.code, admission.missing, admission.retain ? 'retained' : null]
        .filter((word) => word !== null)
        .join(' ')
    case 'act':
      return `act ${admission.principal.kind}`
    default:
      return admission.kind
  }
}
