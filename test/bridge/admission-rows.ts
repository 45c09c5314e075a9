import { grantEntry, id, invitationEntry, keys, now, record, someEvent } from '../support/access.ts'
import { asked, kept, ownerHead, phone, type Row, redeemOp, request } from './admission-base.ts'

/** What each request earns, in the order of the page. @see spec/wire.md §7 */
export const rows: Row[] = [
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
  {
    name: 'an edit of a queue that was begun and never answered',
    asked: { op: { ok: true, op: { kind: 'task.queue', task: id(9), edit: { action: 'lease' } } } },
    around: { kept: { ...kept, reply: null } },
    earns: 'refuse unavailable retained',
  },
  {
    name: 'a look at a queue that was begun and never answered',
    asked: { op: { ok: true, op: { kind: 'task.queue', task: id(9), edit: { action: 'list' } } } },
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
