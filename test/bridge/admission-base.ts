import type { Around, Asked } from '../../src/bridge/admit.ts'
import type { KeptReply } from '../../src/bridge/kept-replies.ts'
import type { Operation } from '../../src/protocol/operations.ts'
import { capability, grantEntry, id, keys, now, record, relay, someEvent } from '../support/access.ts'

const op: Operation = { kind: 'workspace.list' }
export const redeemOp: Operation = { kind: 'enroll.redeem', invitation: id(0xb1), capability }
export const phone = grantEntry()
export const request = id(0x51)

/** A request that is admitted; each row changes it. */
export const asked: Asked = {
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
/** What is true around it. */
export const around: Around = {
  record: record({ grants: [phone] }),
  kept: null,
  inFlight: null,
  now: now + 1,
}
/** What is kept of it once it was answered. */
export const kept: KeptReply = {
  request,
  request_event: asked.event,
  signer: keys.phone,
  epoch: 0,
  expires_at: now + 60,
  reply: someEvent(0x71),
}
/** The head of a request that names no grant. */
export const ownerHead = { grant: null, epoch: null }

export interface Row {
  readonly name: string
  readonly asked?: Partial<Omit<Asked, 'head'>>
  readonly head?: Partial<Asked['head']>
  readonly around?: Partial<Around>
  readonly earns: string
}
